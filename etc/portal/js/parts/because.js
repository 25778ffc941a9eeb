// Which members of a question a rule looks at, and what the question has there: the members because of which it was denied.

const REFERENCE = /\binput((?:\.[A-Za-z_]\w*|\["[^"\]]*"\])+)/g;
const STEP = /\.([A-Za-z_]\w*)|\["([^"\]]*)"\]/g;
const MOST_LINES = 40;

// Return the lines of the rule around a line: up to a line that ends it, or an empty one.
function ruleAt(content, line) {
  const all = content.split('\n');
  const ends = text => text === undefined || text.trim() === '' || /^[})]/.test(text);
  let from = line - 1, to = line - 1;
  while (from > 0 && line - from < MOST_LINES && !ends(all[from - 1])) from--;
  while (to < all.length - 1 && to - line < MOST_LINES && !/^[})]/.test(all[to]) && all[to + 1].trim() !== '') to++;
  return all.slice(from, to + 1).map(text => text.replace(/(^|\s)#.*$/, '')).join('\n');
}

// Return [[member, value]] of the rule at a line; an absent member has undefined.
export function membersAt(content, line, input) {
  const found = new Map();
  for (const [, path] of ruleAt(content, line).matchAll(REFERENCE)) {
    const steps = [...path.matchAll(STEP)].map(([, name, quoted]) => name ?? quoted);
    found.set(`input${path}`, steps.reduce((at, step) => (typeof at === 'object' && at !== null && Object.hasOwn(at, step) ? at[step] : undefined), input));
  }
  return [...found];
}
