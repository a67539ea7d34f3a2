import { computed, signal } from '@preact/signals';

/** Where the browser is: `/console/o/{slug}/{room}/{id}/{tab}?filters`. */
export interface Route {
  slug: string | undefined;
  room: string;
  id: string | undefined;
  tab: string | undefined;
  query: URLSearchParams;
}

const BASE = '/console';

export const address = signal(readAddress());
export const route = computed(() => routeOf(address.value));

function readAddress(): string {
  return globalThis.location ? location.pathname + location.search : BASE;
}

/** Reads an address; ids are percent-encoded in it. */
export function routeOf(text: string): Route {
  const [path = '', search = ''] = text.split('?', 2);
  const [, slug, room, id, tab] = /^\/console\/o\/([^/]+)(?:\/([^/]+))?(?:\/([^/]+))?(?:\/([^/]+))?/.exec(path) ?? [];
  return {
    slug: decoded(slug),
    room: decoded(room) ?? 'home',
    id: decoded(id),
    tab: decoded(tab),
    query: new URLSearchParams(search),
  };
}

function decoded(part: string | undefined): string | undefined {
  if (part === undefined) return undefined;
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The address of a room, a record or a tab of it, in the organization that is open. */
export function to(room: string, id?: string, tab?: string, filters: Filters = {}): string {
  const slug = route.value.slug ?? '';
  const path = [BASE, 'o', slug, room, ...(id === undefined ? [] : [id]), ...(tab === undefined ? [] : [tab])];
  const [, ...parts] = path;
  return BASE + parts.map((part) => `/${encodeURIComponent(part)}`).join('') + searchOf(filters);
}

export type Filters = Record<string, string | number | boolean | readonly string[] | undefined | null>;

/** `?a=1&b[]=2`, without what is empty; '' without any. */
export function searchOf(filters: Filters): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(filters)) {
    if (Array.isArray(value)) for (const each of value) search.append(`${name}[]`, each);
    else if (value !== undefined && value !== null && value !== '') search.set(name, String(value));
  }
  const text = search.toString().replaceAll('%5B%5D', '[]');
  return text === '' ? '' : `?${text}`;
}

/** Asked before another page is opened; a page that would lose what was typed says no. */
let mayLeave: (() => boolean) | undefined;

/** Lets a page be asked before it is left. Returns what ends that. */
export function guardLeaving(ask: () => boolean): () => void {
  mayLeave = ask;
  return () => {
    if (mayLeave === ask) mayLeave = undefined;
  };
}

const staysHere = (href: string): boolean =>
  href.split('?')[0] !== readAddress().split('?')[0] && mayLeave?.() === false;

/** Goes to an address of the console; the browser's "back" leads here. */
export function go(href: string, options: { replaces?: boolean } = {}): void {
  if (href === readAddress() || staysHere(href)) return;
  if (options.replaces) history.replaceState(null, '', href);
  else history.pushState(null, '', href);
  address.value = readAddress();
  if (!options.replaces) scrollTo(0, 0);
}

/** Changes filters of the page, which is page 1 again unless a page is named. */
export function setFilters(changes: Record<string, string | undefined>): void {
  const query = new URLSearchParams(route.value.query);
  if (!('page' in changes)) query.delete('page');
  for (const [name, value] of Object.entries(changes))
    if (value === undefined || value === '') query.delete(name);
    else query.set(name, value);
  const search = query.toString();
  go(location.pathname + (search === '' ? '' : `?${search}`));
}

/** Follows links within the console without loading the page again. */
export function followLinks(): void {
  addEventListener('popstate', () => {
    if (address.value.split('?')[0] !== readAddress().split('?')[0] && mayLeave?.() === false)
      history.pushState(null, '', address.value);
    else address.value = readAddress();
  });
  document.addEventListener('click', (event) => {
    const link = (event.target as Element | null)?.closest?.('a');
    if (!link || event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || link.target === '_blank') return;
    if (link.origin !== location.origin || !link.pathname.startsWith(`${BASE}/`) || link.hasAttribute('download'))
      return;
    event.preventDefault();
    go(link.pathname + link.search);
  });
}
