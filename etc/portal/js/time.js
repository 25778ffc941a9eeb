// Times, always in UTC, as the audit log has them.

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const two = number => String(number).padStart(2, '0');

export const clock = text => (text ? text.slice(11, 19) : '');
export const clockMs = text => (text ? text.slice(11, 23) : '');

// Return Tue 24 Nov 2026.
export function day(text) {
  const at = new Date(text);
  return `${DAYS[at.getUTCDay()]} ${at.getUTCDate()} ${MONTHS[at.getUTCMonth()]} ${at.getUTCFullYear()}`;
}

// Return "today 08:12", "24 Nov 08:12", or "24 Nov 2025" for another year.
export function short(text, now = new Date()) {
  if (!text) return '';
  const at = new Date(text);
  const hours = `${two(at.getUTCHours())}:${two(at.getUTCMinutes())}`;
  if (at.toISOString().slice(0, 10) === now.toISOString().slice(0, 10)) return `today ${hours}`;
  const date = `${at.getUTCDate()} ${MONTHS[at.getUTCMonth()]}`;
  return at.getUTCFullYear() === now.getUTCFullYear() ? `${date} ${hours}` : `${date} ${at.getUTCFullYear()}`;
}

// Return the instant that many hours before now, for filters.
export const before = hours => new Date(Date.now() - hours * 3600000).toISOString();
export const isoDay = (back = 0) => new Date(Date.now() - back * 86400000).toISOString().slice(0, 10);
