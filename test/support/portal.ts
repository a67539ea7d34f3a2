import { request } from 'undici';
import type { Client } from './client.ts';
import { until } from './until.ts';

/** A page of a customer, or the answer to one of its forms. */
export interface PortalAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

/** A form of a page: where it leads, and what it hides. */
export interface PortalForm {
  action: string;
  hidden: Record<string, string>;
}

type Options = { method?: string; headers?: Record<string, string>; body?: string };

/** The path of a customer's pages, as its address tells it. */
export async function portalPath(client: Client, externalId: string, query = ''): Promise<string> {
  const { body } = await client.get(`/customers/${externalId}/portal_url${query}`);
  return new URL(body.customer.portal_url).pathname;
}

/** Asks again for as long as a customer has opened too many pages at once. */
export const visitPortal = (url: string, path: string, options: Options = {}): Promise<PortalAnswer> =>
  until(async () => {
    const answer = await request(`${url}${path}`, { method: 'GET', ...(options as object) });
    const text = await answer.body.text();
    if (answer.statusCode === 429) return undefined;
    return { status: answer.statusCode, headers: answer.headers, text };
  });

/** The form of a page that leads to an address ending so. */
export function formIn(text: string, ending: string): PortalForm {
  const forms = [...text.matchAll(/<form method="post" action="([^"]+)"[^>]*>([\s\S]*?)<\/form>/g)];
  const form = forms.find(([, action]) => action!.split('?')[0]!.endsWith(ending));
  if (!form) throw new Error(`no form that leads to ${ending}`);
  const hidden = [...form[2]!.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)];
  return { action: form[1]!, hidden: Object.fromEntries(hidden.map(([, name, value]) => [name!, value!])) };
}

/** Sends a form of the page at `path`, with what a customer fills in. */
export const sendForm = (
  url: string,
  path: string,
  { action, hidden }: PortalForm,
  fields: Record<string, string> = {},
): Promise<PortalAnswer> =>
  visitPortal(url, new URL(action, `http://x${path}`).pathname, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ ...hidden, ...fields }).toString(),
  });
