export { Compartment, EditorState, RangeSetBuilder, StateEffect, StateField } from '@codemirror/state';
export { Decoration, EditorView, GutterMarker, WidgetType, drawSelection, gutter, highlightActiveLine, highlightSpecialChars, keymap, lineNumbers } from '@codemirror/view';
export { HighlightStyle, StreamLanguage, bracketMatching, indentUnit, syntaxHighlighting } from '@codemirror/language';
export { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
export { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
export { lintGutter, lintKeymap, nextDiagnostic, setDiagnostics } from '@codemirror/lint';
export { tags } from '@lezer/highlight';
