// The difference of two texts, by line, with the words that changed within lines.
import { html } from '../html.js';
import { visible } from '../text.js';

const MOST = 4000; // lines of both texts; beyond, the comparison would take the page seconds

// Return [[' ' | '-' | '+', line]…] by the longest common subsequence of what is between the equal ends.
export function compare(before, after) {
  const a = before === '' ? [] : before.split('\n'), b = after === '' ? [] : after.split('\n');
  let head = 0, tail = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const x = a.slice(head, a.length - tail), y = b.slice(head, b.length - tail);
  const same = line => [' ', line];
  const middle = x.length + y.length > MOST ? [...x.map(line => ['-', line]), ...y.map(line => ['+', line])] : subsequence(x, y);
  return [...a.slice(0, head).map(same), ...middle, ...a.slice(a.length - tail).map(same)];
}

function subsequence(x, y) {
  const long = Array.from({ length: x.length + 1 }, () => new Uint16Array(y.length + 1));
  for (let i = x.length - 1; i >= 0; i--) for (let j = y.length - 1; j >= 0; j--) long[i][j] = x[i] === y[j] ? long[i + 1][j + 1] + 1 : Math.max(long[i + 1][j], long[i][j + 1]);
  const out = [];
  for (let i = 0, j = 0; i < x.length || j < y.length;) {
    if (i < x.length && j < y.length && x[i] === y[j]) { out.push([' ', x[i++]]); j++; } else if (i < x.length && (j === y.length || long[i + 1][j] >= long[i][j + 1])) out.push(['-', x[i++]]);
    else out.push(['+', y[j++]]);
  }
  return out;
}

const MOST_WORDS = 1500; // words of both texts
const WORD = /[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu;

// Return [[' ' | '-' | '+', text]…] of two texts, by words and the blanks between them.
export function compareWords(before, after) {
  const a = before.match(WORD) ?? [], b = after.match(WORD) ?? [];
  let head = 0, tail = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const x = a.slice(head, a.length - tail), y = b.slice(head, b.length - tail);
  const middle = x.length + y.length > MOST_WORDS ? [['-', x.join('')], ['+', y.join('')]] : subsequence(x, y);
  const out = [];
  for (const [kind, text] of [[' ', a.slice(0, head).join('')], ...middle, [' ', a.slice(a.length - tail).join('')]]) {
    if (out.at(-1)?.[0] === kind) out.at(-1)[1] += text;
    else if (text) out.push([kind, text]);
  }
  return out;
}

// Return the words of each line that differ from the line that it replaces: a run of "-" before a run of as many "+".
function marked(lines) {
  const words = new Map();
  for (let at = 0; at < lines.length; at++) {
    let minus = at;
    while (lines[minus]?.[0] === '-') minus++;
    const count = minus - at;
    if (!count) continue;
    const plus = lines.slice(minus, minus + count);
    const pairs = plus.length === count && plus.every(([kind]) => kind === '+') && lines[minus + count]?.[0] !== '+';
    for (let each = 0; pairs && each < count; each++) {
      const found = compareWords(visible(lines[at + each][1]), visible(lines[minus + each][1]));
      if (!found.some(([kind, text]) => kind === ' ' && text.trim())) continue;
      words.set(lines[at + each], found.filter(([kind]) => kind !== '+'));
      words.set(lines[minus + each], found.filter(([kind]) => kind !== '-'));
    }
    at = minus - 1;
  }
  return words;
}

// Return the lines of a unified difference as the service sends it.
export const unified = text => text.split('\n').filter(line => !/^(---|\+\+\+) /.test(line) && line !== '').map(line => (line.startsWith('@@') ? ['@', line] : [line[0], line.slice(1)]));

const CLASS = { '+': 'plus', '-': 'minus', '@': 'file' };
const AROUND = 3;

// Keep the lines that changed and three around each; a gap becomes a mark.
function cut(lines) {
  const near = lines.map((_, at) => lines.slice(Math.max(0, at - AROUND), at + AROUND + 1).some(([kind]) => kind !== ' '));
  return lines.filter((_, at) => near[at] || (at > 0 && near[at - 1])).map((line, at, all) => line ?? all[at]);
}

// Number the lines: [kind, text, line before, line after].
function numbered(lines) {
  let before = 0, after = 0;
  return lines.map(([kind, text]) => {
    const jump = kind === '@' && /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(text);
    if (jump) { before = jump[1] - 1; after = jump[2] - 1; return [kind, text]; }
    if (kind !== '+') before++;
    if (kind !== '-') after++;
    return [kind, text, kind === '+' ? '' : before, kind === '-' ? '' : after];
  });
}

// One file: its name, how much changed, and the lines.
export function Diff({ name, lines }) {
  const all = numbered(lines);
  const words = marked(all);
  const keep = new Set(cut(all));
  const count = kind => lines.filter(([one]) => one === kind).length;
  return html`<div class="lines diff" role="group" aria-label=${`Difference of ${name}`}>
    <div class="file">${visible(name)} · ${count('+')} added, ${count('-')} removed</div>
    ${all.filter(line => keep.has(line)).map(line => { const [kind, text, before, after] = line; return (kind === '@'
      ? html`<div class="file">⋯</div>`
      : html`<div class=${CLASS[kind]}><span class="n">${before}</span><span class="n">${after}</span><span>${kind === ' ' ? '' : kind === '-' ? '−' : '+'}</span><span class="t">${words.get(line)?.map(([one, part]) => (one === ' ' ? part : html`<mark>${part}</mark>`)) ?? (visible(text) || ' ')}</span></div>`); })}
  </div>`;
}
