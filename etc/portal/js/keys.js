// Keys: one letter outside of fields, Ctrl with a letter everywhere. Single letters can be turned off (WCAG 2.2, 2.1.4).
import { useLayoutEffect } from './html.js';

const OFF = 'authz.keys-off';
const handlers = new Map();
export const isOff = () => localStorage.getItem(OFF) === '1';
export const turn = off => (off ? localStorage.setItem(OFF, '1') : localStorage.removeItem(OFF));

// The keys that pages may take, with their meaning; the list of "?" shows them.
export const KEYS = [
  ['/', 'Find'], ['?', 'This list'], ['g then o, d, c, p, i, m, n', 'Overview, Decisions, Clients, People, Identity providers, Resources, Connectors'], ['g then r, t, v, k, s', 'Rules, Try, Revisions, Keys, System'], ['n', 'New'], ['e', 'Edit'],
  ['[ and ]', 'Opened row before, after'], ['Ctrl+S', 'Check the draft'], ['Ctrl+Enter', 'Review the draft, or save it'], ['F8', 'Next error'],
  ['Esc', 'Close what is open'],
];

const typing = target => target.closest?.('input, select, textarea, [contenteditable], dialog, .editor') != null;
const nameOf = event => `${event.ctrlKey || event.metaKey ? 'Ctrl+' : ''}${event.key}`;

let prefix = '';
addEventListener('keydown', event => {
  const name = nameOf(event);
  const single = !name.startsWith('Ctrl+') && name.length === 1;
  if (event.altKey || event.isComposing || (single && (isOff() || typing(event.target)))) return;
  const handler = handlers.get(prefix + name) ?? handlers.get(name);
  prefix = single && name === 'g' && !prefix ? 'g ' : '';
  if (!handler) return;
  event.preventDefault();
  handler(event);
});

// While the component is there, call the handlers: {'n': act, 'Ctrl+s': check}.
export function useKeys(wanted) {
  // Before the next event, so that no key meets a handler of an earlier rendering.
  useLayoutEffect(() => {
    const entries = Object.entries(wanted).filter(([, act]) => act);
    for (const [name, act] of entries) handlers.set(name, act);
    return () => { for (const [name, act] of entries) if (handlers.get(name) === act) handlers.delete(name); };
  });
}
