export { Annotation, Compartment, EditorState, StateEffect, StateField } from '@codemirror/state';
export { Decoration, EditorView, WidgetType, drawSelection, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
export { HighlightStyle, StreamLanguage, bracketMatching, indentUnit, syntaxHighlighting } from '@codemirror/language';
export { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
export { searchKeymap } from '@codemirror/search';
export { tags } from '@lezer/highlight';
