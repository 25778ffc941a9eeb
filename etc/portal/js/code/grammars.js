// Grammars for the editor: words, texts, numbers and comments of Rego, Cedar and JSON, line by line.

const words = text => new Set(text.split(' '));

const REGO = {
  comment: /^#.*/, keywords: words('package import default if else contains in every some with as not'), atoms: words('true false null input data'),
  operator: /^(?::=|==|!=|<=|>=|[-+*/%<>|&=])/,
};
const CEDAR = {
  comment: /^\/\/.*/, keywords: words('permit forbid when unless if then else in has like is'), atoms: words('true false principal action resource context'),
  operator: /^(?:==|!=|<=|>=|&&|\|\||::|[-+*<>!])/,
};
const JSON_ = { comment: /^(?!)/, keywords: words(''), atoms: words('true false null'), operator: /^(?!)/ };

// Return the name of the next token, as StreamLanguage wants it.
function token({ comment, keywords, atoms, operator }) {
  return stream => {
    if (stream.eatSpace()) return null;
    if (stream.match(comment)) return 'comment';
    if (stream.match(/^"(?:[^"\\]|\\.)*"?/)) return stream.match(/^\s*:(?!=)/, false) ? 'propertyName' : 'string';
    if (stream.match(/^`[^`]*`?/)) return 'string';
    if (stream.match(/^\d[\d.eE]*/)) return 'number';
    const word = stream.match(/^@?[A-Za-z_][\w]*/);
    if (word) return keywords.has(word[0]) ? 'keyword' : atoms.has(word[0]) ? 'atom' : null;
    if (stream.match(operator)) return 'operator';
    stream.next();
    return null;
  };
}

const mode = (name, rules, line) => ({ name, token: token(rules), languageData: { commentTokens: line ? { line } : undefined } });

export const grammars = { rego: mode('rego', REGO, '#'), cedar: mode('cedar', CEDAR, '//'), json: mode('json', JSON_) };
