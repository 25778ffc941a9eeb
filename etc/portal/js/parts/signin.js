// The page before the sign-in, and the dialog when a session ended.
import { html, useEffect, useRef, useState } from '../html.js';
import { dropLink, signIn, signInByLink } from '../session.js';
import { Text } from '../text.js';

export const Mark = () => html`<svg viewBox="0 0 32 32" aria-hidden="true" fill="currentColor"><circle cx="16" cy="10" r="7" /><path d="M3 30a13 11 0 0 1 26 0z" /></svg>`;

function KeyForm({ button, main = false }) {
  const [fault, setFault] = useState('');
  const [busy, setBusy] = useState(false);
  const field = useRef();
  const submit = async event => {
    event.preventDefault();
    const key = field.current.value.trim();
    if (!key) { setFault('Type an admin key.'); field.current.focus(); return; }
    setBusy(true);
    const refused = await signIn(key);
    setBusy(false);
    if (refused === undefined) return;
    field.current.value = '';
    setFault(refused);
    field.current.focus();
  };
  return html`<form onSubmit=${submit}>
    <div class="field">
      <label for="key">Admin key</label>
      <input id="key" ref=${field} type="password" autocomplete="off" spellcheck=${false} aria-describedby="key-help key-fault" aria-invalid=${fault ? 'true' : undefined} />
      <p class="fault" id="key-fault" role="alert">${fault}</p>
      <p class="help" id="key-help">It is exchanged for a session of this browser and not kept. <code>authzctl admin-key mint</code> makes one.</p>
    </div>
    <button class=${main ? 'main' : undefined} disabled=${busy}>${button}</button>
  </form>`;
}

function Door({ children }) {
  useEffect(() => { document.title = 'Sign in · Console'; }, []);
  return html`<div class="door">
    <header><${Mark} />${location.host}</header>
    <main class="panel">
      <h1 tabindex="-1">Console</h1>
      <p class="quiet">For the people who run this service.</p>
      ${children}
    </main>
    <footer>Sessions end after 30 minutes without use, and after 8 hours. Each sign-in is in the audit log.</footer>
  </div>`;
}

// The page asks before it uses the link, so that a program that opens addresses does not use it up, and no other page signs a browser in.
export function SignInByLink({ who }) {
  const [fault, setFault] = useState('');
  const [busy, setBusy] = useState(false);
  const button = useRef();
  useEffect(() => { button.current?.focus(); }, []);
  const submit = async event => {
    event.preventDefault();
    setBusy(true);
    setFault(await signInByLink() ?? '');
    setBusy(false);
  };
  return html`<${Door}>
    ${who && html`<p class="note">This browser is signed in as <b><${Text} of=${who.label} /></b>, ${who.role}. The link ends that session.</p>`}
    <form onSubmit=${submit}>
      <p class="refused" role="alert" hidden=${!fault}>${fault}</p>
      <button class="main" ref=${button} disabled=${busy}>Sign in with the link</button>
    </form>
    <p class="or">or</p>
    <button type="button" class="whole" onClick=${dropLink}>${who ? 'Keep the session' : 'Sign in another way'}</button>
  <//>`;
}

export function SignIn({ off }) {
  return html`<${Door}>
      ${off
        ? html`<p class="note"><b>The admin API is off.</b> SVC_ADMIN_ENABLED is false, so this page can do nothing. Set it to true and restart the service.</p>`
        : html`<a class="button main" href="../admin/session/start">Sign in with an identity provider</a>
          <p class="or">or</p>
          <${KeyForm} button="Sign in with the key" />`}
  <//>`;
}

export function SignedOut() {
  const box = useRef();
  // The button that asked has the focus again afterwards.
  useEffect(() => { const dialog = box.current; dialog.showModal(); return () => dialog.close(); }, []);
  return html`<dialog ref=${box} aria-labelledby="ended" onCancel=${event => event.preventDefault()} onClose=${() => box.current?.showModal()}>
    <h2 id="ended">Your session ended.</h2>
    <p>What you typed is still here.</p>
    <${KeyForm} button="Sign in and go on" main />
  </dialog>`;
}
