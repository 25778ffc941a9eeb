// Lists that the service answers in pages, with the number of all rows in X-Total-Count.
import { request, useData, withQuery } from '../api.js';
import { html } from '../html.js';
import { changed } from '../route.js';
import { number } from '../text.js';

export const SIZE = 50;

// Return the number of the page in the address.
export const pageOf = place => Number(place.query.get('page')) || 0;

// Load a page: {rows, total} as the data of useData.
export function usePage(path, query) {
  const whole = withQuery(path, query);
  return useData(async signal => {
    const { data, headers } = await request('GET', whole, { signal });
    return { rows: data, total: Number(headers.get('X-Total-Count') ?? data.length) };
  }, [whole]);
}

// Where the page is, and the ways to the next and the previous one.
export const Pager = ({ place, page, shown, total }) => html`<footer class="between"><span>${number(page * SIZE + 1)}–${number(page * SIZE + shown)} of ${number(total)}</span>
  <span class="acts">${page > 0 && html`<a class="button" href=${changed(place, { page: page - 1 || undefined })}>Previous</a>`}${(page + 1) * SIZE < total && html`<a class="button" href=${changed(place, { page: page + 1 })}>Next</a>`}</span></footer>`;
