// Keys: one letter outside of fields, Ctrl with a letter everywhere but in dialogs. Single letters can be turned off (WCAG 2.2, 2.1.4).
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
  if (event.defaultPrevented || event.altKey || event.isComposing || event.target.closest?.('dialog') || (single && (isOff() || typing(event.target)))) return;
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

// Keep the focus in the page. Chromium takes it from a button that is off while it works, and from what is removed: the button has it
// again once it is on, and for what is gone h1 has it, or the first control of what is marked data-keeps-focus.
const STOPS = 'button:not(:disabled), a[href], input:not(:disabled), select:not(:disabled), textarea:not(:disabled)';
export function keepFocus(root) {
  let last, chain = [];
  const remember = event => {
    last = event.target;
    chain = [];
    for (let box = last.parentElement; box && box !== root; box = box.parentElement) chain.push(box);
  };
  const look = () => {
    if (!last || document.activeElement !== document.body || !document.hasFocus()) return;
    const there = last.isConnected && last.checkVisibility();
    if (there) { if (!last.disabled) last.focus(); return; }
    const near = chain.find(box => box.isConnected && box.dataset.keepsFocus !== undefined)?.querySelector(STOPS);
    (document.querySelector('dialog[open]')?.querySelector(STOPS) ?? near ?? root.querySelector('main h1'))?.focus();
  };
  root.addEventListener('focusin', remember);
  addEventListener('pointerdown', event => { if (!last?.contains(event.target)) last = undefined; }); // a click elsewhere takes it away
  new MutationObserver(look).observe(root, { childList: true, subtree: true, attributes: true, attributeFilter: ['disabled', 'class', 'open'] });
}
