import { ID } from '../body-examples/ids.ts';
import type { Media, Parameter, Route } from './description.ts';

/** What stands for the parameters of paths: the records that the examples of bodies make. */
const IN_PATHS: Readonly<Record<string, string>> = {
  external_id: 'ada',
  external_customer_id: 'ada',
  external_subscription_id: 'ada-1',
  transaction_id: 't1',
  code: 'starter',
  charge_code: 'calls',
  feature_code: 'seats',
  wallet_code: 'prepaid',
};
/** Codes below a first word of the path, where examples make another record than a plan. */
const CODES: Readonly<Record<string, string>> = {
  billable_metrics: 'calls',
  subscriptions: 'ada-1',
  add_ons: 'setup',
  coupons: 'welcome',
  taxes: 'vat',
  features: 'seats',
};
const NAME_OF_ID = 'ID';

/** The command and the program that send a request. */
export interface Samples {
  curl: string;
  typescript: string;
  /** Whether the reader has to put in an identifier that the service gave. */
  needsId: boolean;
}

/**
 * A request as a shell sends it, with `$KEY` for the key and `$ID` for identifiers that the service gives, and the same
 * in TypeScript. Quotes of a shell as console.md says: an inner one as `'\''`.
 *
 * api       address of the API
 * required  parameters without which the operation answers nothing
 */
export function samplesOf(api: string, route: Route, required: readonly Parameter[]): Samples {
  const { method, path, operation } = route;
  const [, first] = path.split('/');
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => placeOf(name, first!));
  const query = required.filter((each) => each.in === 'query').map(({ name }) => `${name}=${queryValue(name)}`);
  const url = `${api}${filled}${query.length > 0 ? `?${query.join('&')}` : ''}`;
  const [type, media] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  const body = bodyOf(media);
  const verb = method.toUpperCase();
  const curl = curlOf({ verb, url, type, body });
  return { curl, typescript: typescriptOf({ verb, url, type, body }), needsId: curl.includes(`$${NAME_OF_ID}`) };
}

const placeOf = (name: string, first: string): string =>
  (/^(?:external_id|code)$/.test(name) ? CODES[first] : undefined) ?? IN_PATHS[name] ?? `$${NAME_OF_ID}`;

const queryValue = (name: string): string =>
  ({
    external_subscription_id: 'ada-1',
    q: 'ada',
    from: '2030-01-01',
    to: '2030-02-01',
    from_date: '2030-01-01',
    to_date: '2030-02-01',
    model: 'gpt-4o',
    provider: 'openai',
  })[name] ?? '…';

const bodyOf = (media: Media | undefined): string | undefined =>
  media?.example === undefined
    ? undefined
    : typeof media.example === 'string'
      ? media.example
      : JSON.stringify(media.example, null, 2);

interface Sent {
  verb: string;
  url: string;
  type: string | undefined;
  body: string | undefined;
}

function curlOf({ verb, url, type, body }: Sent): string {
  const quote = url.includes('$') ? '"' : "'";
  const lines = [
    `curl -sS -X ${verb} ${quote}${url}${quote}`,
    `-H "Authorization: Bearer $KEY"`,
    ...(body === undefined ? [] : [`-H 'Content-Type: ${type}'`, `--data-binary ${quoted(body)}`]),
  ];
  return lines.join(' \\\n  ');
}

/** In single quotes, an inner one as `'\''`; identifiers that the service gives are left to the reader's `$ID`. */
const quoted = (body: string): string => `'${body.replaceAll("'", "'\\''").replaceAll(ID, `'"$${NAME_OF_ID}"'`)}'`;

function typescriptOf({ verb, url, type, body }: Sent): string {
  const address = url.includes(`$${NAME_OF_ID}`) ? `\`${url.replaceAll(`$${NAME_OF_ID}`, `$\{id}`)}\`` : `'${url}'`;
  const isText = type?.endsWith('ndjson');
  const content = body === undefined ? '' : isText ? `\`${body}\`` : `JSON.stringify(${indented(body)})`;
  return [
    `const response = await fetch(${address}, {`,
    `  method: '${verb}',`,
    '  headers: {',
    '    authorization: `Bearer $' + '{process.env.KEY}`,',
    ...(body === undefined ? [] : [`    'content-type': '${type}',`]),
    '  },',
    ...(body === undefined ? [] : [`  body: ${content},`]),
    '});',
    'if (!response.ok) throw new Error(await response.text());',
    'const answer = await response.json();',
  ].join('\n');
}

const indented = (body: string): string =>
  body.replaceAll('\n', '\n  ').replaceAll(`"${ID}"`, NAME_OF_ID.toLowerCase());
