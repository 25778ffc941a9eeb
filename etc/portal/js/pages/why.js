// #/why/{text}, for tickets and runbooks: a request id, flow id, decision number, client, person or reason leads to its page.
import { lookUp } from '../find.js';
import { html, useEffect, useState } from '../html.js';
import { to } from '../route.js';
import { Text } from '../text.js';

export default function Why({ place }) {
  const text = place.path.slice(1).join('/');
  const [note, setNote] = useState('');
  useEffect(() => {
    lookUp(text).then(found => location.replace(found ?? to(['decisions'])), fault => setNote(fault.message));
  }, [text]);
  return html`<div class="head"><h1 tabindex="-1">Why?</h1></div><p>${note || html`Looking for <${Text} of=${text} />`}</p>`;
}
