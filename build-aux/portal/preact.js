export { Component, Fragment, createContext, h, render } from 'preact';
export { useCallback, useContext, useEffect, useErrorBoundary, useLayoutEffect, useMemo, useReducer, useRef, useState } from 'preact/hooks';
export { default as htm } from 'htm';
