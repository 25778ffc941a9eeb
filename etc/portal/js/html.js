// The binding of htm to Preact, and what pages use of both.
import { Fragment, h, htm } from '../vendor/preact.js';

export { Fragment, render, useCallback, useEffect, useErrorBoundary, useLayoutEffect, useMemo, useRef, useState } from '../vendor/preact.js';
export const html = htm.bind(h);
