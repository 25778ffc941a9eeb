// New rows of a list, counted and shown on request: every 30 s while the page can be seen, and when it is seen again.
import { html, useEffect, useState } from '../html.js';
import { plural } from '../text.js';

const SECONDS = 30;

// count() tells how many rows are newer than those shown. show() shows them.
export function Live({ count, show, wants }) {
  const [on, turn] = useState(false);
  const [found, set] = useState({});
  useEffect(() => {
    set({});
    if (!on) return undefined;
    const stop = new AbortController();
    const look = () => {
      if (document.hidden) return;
      count(stop.signal).then(number => !stop.signal.aborted && set({ number, at: new Date() }), error => !stop.signal.aborted && set(old => ({ ...old, error })));
    };
    const timer = setInterval(look, SECONDS * 1000);
    document.addEventListener('visibilitychange', look, { signal: stop.signal });
    look();
    return () => { clearInterval(timer); stop.abort(); };
  }, [on, ...wants]);
  const state = found.error ? 'cannot be read now' : found.at ? `looked ${found.at.toISOString().slice(11, 19)}` : '';
  return html`<button type="button" aria-pressed=${on} onClick=${() => turn(!on)}>Live</button>
    ${on && html`<span role="status" class="small live">${found.number > 0 ? html`<button type="button" class="main" onClick=${() => { set({}); show(); }}>Show ${plural(found.number, 'new row')}</button>` : `no new row${state && ` · ${state}`}`}</span>`}`;
}
