// The editor of rules and rows: CodeMirror in a shadow root, whose styles are constructed sheets. A fault stands below its line.
import {
  Annotation, Compartment, Decoration, EditorState, EditorView, HighlightStyle, StateEffect, StateField, StreamLanguage, WidgetType, bracketMatching, defaultKeymap, drawSelection,
  highlightActiveLine, history, historyKeymap, indentUnit, indentWithTab, keymap, lineNumbers, searchKeymap, syntaxHighlighting, tags,
} from '../../vendor/codemirror.js';
import { html, useEffect, useRef } from '../html.js';
import { HIDDEN, visible } from '../text.js';
import { grammars } from './grammars.js';

const LOOK = EditorView.theme({
  '&': { color: 'var(--text)', backgroundColor: 'var(--card)', font: '.8125rem/1.375rem var(--mono)', minHeight: '24rem' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-2px' },
  '.cm-scroller': { font: 'inherit', lineHeight: 'inherit' },
  '.cm-content': { caretColor: 'var(--text)', padding: '8px 0' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': { backgroundColor: 'var(--card)', color: 'var(--quiet)', border: 'none', paddingLeft: '8px' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--field)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': { backgroundColor: 'var(--sel)' },
  '.cm-panels': { backgroundColor: 'var(--field)', color: 'var(--text)' },
  '.cm-searchMatch': { backgroundColor: 'var(--warn-bg)' },
  '.cm-matchingBracket, &.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--sel)', outline: '1px solid var(--edge)' },
  '.fault-line': { backgroundColor: 'var(--no-bg)' },
  '.fault': { padding: '6px 16px 6px 12px', backgroundColor: 'var(--no-bg)', borderTop: '1px solid var(--no)', borderBottom: '1px solid var(--no)', font: '.8125rem/1.25rem var(--sans)', whiteSpace: 'normal' },
  '.unseen': { color: 'var(--no)', outline: '1px solid var(--no)' },
  '.fault b': { color: 'var(--no)' },
});
const COLOURS = HighlightStyle.define([
  { tag: tags.keyword, color: 'var(--accent)' }, { tag: tags.propertyName, color: 'var(--accent)' }, { tag: tags.string, color: 'var(--ok)' },
  { tag: [tags.number, tags.atom], color: 'var(--warn)' }, { tag: tags.comment, color: 'var(--quiet)' },
]);

class Fault extends WidgetType {
  constructor(text) {
    super();
    this.text = text;
  }
  eq(other) { return other.text === this.text; }
  toDOM() {
    const box = document.createElement('div'), strong = document.createElement('b');
    box.className = 'fault';
    strong.textContent = visible(this.text);
    box.append(strong);
    return box;
  }
}

// Characters that cannot be seen, or that reorder others, stand as their numbers: a rule reads as the engine reads it.
class Unseen extends WidgetType {
  constructor(text) {
    super();
    this.text = text;
  }
  eq(other) { return other.text === this.text; }
  toDOM() {
    const box = document.createElement('span');
    box.className = 'unseen';
    box.textContent = visible(this.text);
    return box;
  }
}
const mark = state => Decoration.set([...state.doc.toString().matchAll(HIDDEN)].map(found => Decoration.replace({ widget: new Unseen(found[0]) }).range(found.index, found.index + found[0].length)));
const unseen = StateField.define({
  create: mark,
  update: (value, change) => (change.docChanged ? mark(change.state) : value),
  provide: field => EditorView.decorations.from(field),
});

// Marks a change that the user did not type.
const Outside = Annotation.define();
const setFaults = StateEffect.define();
const faults = StateField.define({
  create: () => Decoration.none,
  update(value, change) {
    let next = value.map(change.changes);
    for (const effect of change.effects) if (effect.is(setFaults)) next = decorate(change.state, effect.value);
    return next;
  },
  provide: field => EditorView.decorations.from(field),
});

function decorate(state, list) {
  const marks = list.filter(one => one.line >= 1 && one.line <= state.doc.lines).flatMap(one => {
    const line = state.doc.line(one.line);
    return [Decoration.line({ class: 'fault-line' }).range(line.from), Decoration.widget({ widget: new Fault(one.message), block: true, side: 1 }).range(line.to)];
  });
  return Decoration.set(marks, true);
}

function jump(view, line, focus) {
  if (!(line >= 1 && line <= view.state.doc.lines)) return;
  view.dispatch({ selection: { anchor: view.state.doc.line(line).from }, effects: EditorView.scrollIntoView(view.state.doc.line(line).from, { y: 'center' }) });
  if (focus) view.focus();
}

// Chromium gives text that replaces a selection a style attribute, which the policy of the page refuses and reports. Such text goes
// into the document without the browser.
const replaces = EditorView.domEventHandlers({
  beforeinput(event, view) {
    if (event.inputType !== 'insertText' || event.data === null || view.state.selection.main.empty || view.state.readOnly || view.composing) return false;
    view.dispatch(view.state.replaceSelection(event.data), { userEvent: 'input.type', scrollIntoView: true });
    event.preventDefault();
    return true;
  },
});

// An editor of one document; another key makes another one. change(text) is called for what the user types. list: [{line, message}].
// at: {line} to show, and to put the focus on it.
export default function Editor({ label, language, value, change, readOnly, list = [], at }) {
  const host = useRef(), view = useRef(), told = useRef(change), sent = useRef([]);
  told.current = change;
  useEffect(() => {
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: 'open' });
    const locked = new Compartment();
    view.current = new EditorView({
      root, parent: root,
      state: EditorState.create({
        doc: value,
        extensions: [
          lineNumbers(), history(), drawSelection(), bracketMatching(), highlightActiveLine(), indentUnit.of(language === 'rego' ? '\t' : '  '), EditorView.lineWrapping,
          StreamLanguage.define(grammars[language]), syntaxHighlighting(COLOURS), LOOK, faults, unseen, replaces, locked.of([EditorState.readOnly.of(Boolean(readOnly))]),
          EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false' }),
          keymap.of([indentWithTab, ...searchKeymap, ...historyKeymap, ...defaultKeymap.filter(one => one.key !== 'Mod-Enter')]),
          EditorView.updateListener.of(update => { if (update.docChanged && !update.transactions.some(one => one.annotation(Outside))) { sent.current.push(update.state.doc.toString()); told.current?.(sent.current.at(-1)); } }),
        ],
      }),
    });
    return () => view.current.destroy();
  }, []);
  // The draft changed elsewhere (discarded, or taken from the active revision). What was typed comes back here, and may be older than what
  // is typed by now.
  useEffect(() => {
    const now = view.current.state.doc, at = sent.current.lastIndexOf(value);
    if (now.toString() === value) sent.current = [];
    else if (at >= 0) sent.current.splice(0, at + 1);
    else view.current.dispatch({ changes: { from: 0, to: now.length, insert: value }, annotations: Outside.of(true) });
  }, [value]);
  useEffect(() => { view.current.dispatch({ effects: setFaults.of(list) }); }, [list]);
  useEffect(() => { if (at?.line) jump(view.current, at.line, at.focus); }, [at]);
  return html`<div class="editor" ref=${host} />`;
}
