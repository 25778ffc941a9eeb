// A check of the draft: the service compiles it, asks the engine, and saves nothing. Refusals have file and line.
import { request } from '../api.js';
import { body } from '../draft.js';

// Return the faults of a refusal: [{path, line, message}] of rules, [{dataKey, pointer, message}] of rows.
export function faultsOf(failure) {
  const data = failure.body ?? {};
  if (Array.isArray(data.errors)) return data.errors.map(one => ({ path: one.path, line: one.row, message: one.message }));
  if (Array.isArray(data.failures)) return data.failures.map(one => ({ dataKey: data.dataKey, pointer: one.path, message: one.message }));
  const found = /^(\S+):(\d+): (.*)$/s.exec(failure.message);
  return found ? [{ path: found[1], line: Number(found[2]), message: found[3] }] : [];
}

// Times a measurement is asked for again, a second apart, while the places for trials of policy are taken: the check of a draft that is
// edited takes one, and a small service has one alone.
const TRIES = 10;

async function begin(asked, signal) {
  for (let left = TRIES; ; left--) {
    try {
      return (await request('POST', 'policy-impact', { body: asked, signal })).data;
    } catch (fault) {
      if (fault.status !== 503 || left === 0) throw fault;
    }
    await new Promise(resume => setTimeout(resume, 1000));
  }
}

// Ask what a draft would change, of as many decisions as given; with one decision it is a check alone. tell(impact) gets the state
// of a measurement that goes on. Return the impact; throw the refusal.
export async function impactOf(asked, { signal, tell } = {}) {
  let data = await begin(asked, signal);
  while (!['done', 'failed', 'cancelled'].includes(data.state)) {
    tell?.(data);
    await new Promise(resume => setTimeout(resume, 500));
    ({ data } = await request('GET', `policy-impact/${data.id}`, { signal }));
  }
  return data;
}

export const check = signal => impactOf({ ...body(), decisions: 1, examples: 0 }, { signal });
