// Times of the service (UTC) as a person reads them: in the time zone of the browser, with both zones on hover.
import { html } from './html.js';

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const two = number => String(number).padStart(2, '0');
const dateOf = at => `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
const hoursOf = at => `${two(at.getHours())}:${two(at.getMinutes())}`;

// Return UTC+01:00 of the zone that holds at a time.
function zone(at) {
  const minutes = -at.getTimezoneOffset(), size = Math.abs(minutes);
  return minutes === 0 ? 'UTC' : `UTC${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

export const clock = text => { const at = new Date(text); return text ? `${hoursOf(at)}:${two(at.getSeconds())}` : ''; };
export const clockMs = text => (text ? `${clock(text)}.${String(new Date(text).getMilliseconds()).padStart(3, '0')}` : '');

// Return Tue 24 Nov 2026; of a day of UTC, as reports count them, that day.
export function day(text) {
  const at = new Date(text.length === 10 ? `${text}T00:00:00` : text);
  return `${DAYS[at.getDay()]} ${at.getDate()} ${MONTHS[at.getMonth()]} ${at.getFullYear()}`;
}

// Return "today 08:12", "24 Nov 08:12", or "24 Nov 2025" for another year.
export function short(text, now = new Date()) {
  if (!text) return '';
  const at = new Date(text);
  if (dateOf(at) === dateOf(now)) return `today ${hoursOf(at)}`;
  const date = `${at.getDate()} ${MONTHS[at.getMonth()]}`;
  return at.getFullYear() === now.getFullYear() ? `${date} ${hoursOf(at)}` : `${date} ${at.getFullYear()}`;
}

// Return the whole time with its zone, and the time of UTC as logs have it if that is another.
export function exact(text) {
  const at = new Date(text), utc = at.toISOString();
  const own = `${dateOf(at)} ${clock(text)} ${zone(at)}`;
  return zone(at) === 'UTC' ? own : `${own} (${utc.slice(0, 19).replace('T', ' ')} UTC)`;
}

// A time: short, or as `form` writes it; the whole with its zone on hover. none: what stands where there is no time.
export const When = ({ at, form = short, none = '' }) => (at ? html`<time datetime=${at} title=${exact(at)}>${form(at)}</time>` : none);
// Of a list whose rows are mostly of today: the seconds of those, the day of the others.
export const seconds = text => (short(text).startsWith('today') ? clock(text) : short(text));

// Return a duration in its two largest units: "350 ms", "45 s", "1 h 30 min", "2 d".
const UNITS = [['d', 86400], ['h', 3600], ['min', 60], ['s', 1]];
export function span(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const whole = Math.round(ms / 1000), first = UNITS.findIndex(([, size]) => whole >= size);
  const [big, small] = [UNITS[first], UNITS[first + 1]];
  const rest = small ? Math.floor((whole % big[1]) / small[1]) : 0;
  return `${Math.floor(whole / big[1])} ${big[0]}${rest ? ` ${rest} ${small[0]}` : ''}`;
}

// Return the instant that many hours before now, for filters.
export const before = hours => new Date(Date.now() - hours * 3600000).toISOString();
export const isoDay = (back = 0) => new Date(Date.now() - back * 86400000).toISOString().slice(0, 10);
