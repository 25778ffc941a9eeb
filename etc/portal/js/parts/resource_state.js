// The state of a resource, as the service says it: a member that is left out is not false.
import { html } from '../html.js';

export const isOff = resource => resource.status === 'disabled';

const MARK = { active: 'ok', pending: 'wait', degraded: 'warn', error: 'no', disabled: 'off' };

export const State = ({ of }) => html`<span class=${`state ${MARK[of.status] ?? 'off'}`}>${of.status}</span>`;
