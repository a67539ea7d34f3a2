/** What a test sent and got. */
interface Talk {
  method: string;
  path: string;
  status: number;
  requestBody: unknown;
  responseBody: unknown;
}

/** A place where the rules allow what the contract does not list. */
type Beyond = {
  /** The rule that allows it. */
  rule: string;
} & (
  | {
      /**
       * Accepted requests that it is about, as `METHOD /path`, and where: names from the root of the body on, `*` for
       * any.
       */
      request: RegExp;
      at: string;
      /** What is sent there, or the field that is absent there. */
      is?: (value: unknown) => boolean;
      lacks?: string;
    }
  | {
      /**
       * A field that holds it at any depth of what is sent, answered or notified; with `path`, on these routes alone.
       */
      field: string;
      is: (value: unknown) => boolean;
      path?: RegExp;
    }
);

const isText = (value: unknown): boolean => typeof value === 'string';
const isNumber = (value: unknown): boolean => typeof value === 'number';
const isFraction = (value: unknown): boolean => isNumber(value) && !Number.isInteger(value);
const isNull = (value: unknown): boolean => value === null;
const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

const UNLISTED = new Set<unknown>(['BHD', 'IQD', 'IRR', 'JOD', 'KWD', 'LYD', 'OMR', 'TND']);
const isUnlistedCurrency = (value: unknown): boolean => UNLISTED.has(value);
/** Zones of the oracle's worlds that the contract's list lacks. */
const isUnlistedZone = (value: unknown): boolean => value === 'Australia/Lord_Howe';
const UNAVAILABLE = 503;
const PENDING = 504;

const NUMBERS = 'json.md "input numbers": numeric texts where a number is expected and vice versa';
const NULLS = 'json.md "absent vs null": null clears';
const KEEPS = 'json.md "absent vs null": absent leaves as is';

/**
 * Exchanges and notifications that these rows describe stay out of the log of a test run: everything in the log must
 * satisfy the contract. A request of one test alone says so itself (`beyondContract` of its options).
 */
const BEYOND: readonly Beyond[] = [
  { rule: 'lists.md#pages: what `count=none` does not count', field: 'total_count', is: isNull },
  {
    rule: 'provider-connections.md#custom-provider: it appears as one that the lists of failures lack',
    field: 'payment_provider',
    is: (value) => value === 'moneyhash',
  },
  {
    rule: 'provider-connections.md#custom-provider: its errors name it as their source',
    field: 'source',
    is: (value) => ['custom', 'gocardless', 'adyen'].includes(String(value)),
  },
  {
    rule: 'tax-engines.md: taxes of an engine are no taxes of the catalogue',
    field: 'svc_tax_id',
    is: isNull,
    path: /\/credit_notes\/estimate$/,
  },
  { rule: 'json.md "countries": ISO 3166-1 and XK', field: 'country', is: (value) => value === 'XK' },
  ...['currency', 'amount_currency', 'plan_amount_currency'].map((field) => ({
    rule: 'json.md "currencies": more than the contract lists',
    field,
    is: isUnlistedCurrency,
  })),
  ...['timezone', 'applicable_timezone'].map((field) => ({
    rule: 'json.md "timezones": every zone of IANA',
    field,
    is: isUnlistedZone,
  })),
  { rule: 'json.md "emails": several', field: 'email', is: (value) => isText(value) && String(value).includes(',') },
  {
    rule: 'events.md#fields: properties hold any JSON values',
    field: 'properties',
    path: /\/events/,
    is: (value) => isObject(value) && Object.values(value).some((each) => !isText(each) && !isNumber(each)),
  },
  {
    rule: 'events.md#fields: timestamp is a number, decimals allowed',
    request: /POST \/events/,
    at: 'event.timestamp',
    is: isFraction,
  },
  {
    rule: 'events.md#fields: timestamp is a number, decimals allowed',
    request: /POST \/events/,
    at: 'events.*.timestamp',
    is: isFraction,
  },
  {
    rule: 'events.md#fields: external_subscription_id is not checked',
    request: /POST \/events$/,
    at: 'event',
    lacks: 'external_subscription_id',
  },
  {
    rule: 'event-verdicts.md: a tolerant batch refuses each event alone',
    request: /POST \/events\/batch$/,
    at: 'events.*',
    is: (value) => !isObject(value) || !isText(value.transaction_id) || !isText(value.code),
  },
  {
    rule: 'events.md#endpoints: a bare item is accepted too',
    request: /POST \/events\/batch_estimate_instant_fees/,
    at: 'events.*',
    lacks: 'event',
  },
  {
    rule: 'billable-metrics.md#expressions: an event to try has defaults',
    request: /POST \/billable_metrics\/evaluate_expression/,
    at: 'event',
    lacks: 'code',
  },
  {
    rule: 'billable-metrics.md#expressions: an event to try has defaults',
    request: /POST \/billable_metrics\/evaluate_expression/,
    at: 'event',
    lacks: 'properties',
  },
  {
    rule: 'fixed-charges.md#fields: add_on_id or add_on_code',
    request: /(POST|PUT) \/plans/,
    at: 'plan.fixed_charges.*',
    lacks: 'add_on_id',
  },
  {
    rule: 'charges.md#fields: properties default to those of the model',
    request: /POST \/plans\/[^/]+\/charges\/[^/]+\/filters/,
    at: 'filter',
    lacks: 'properties',
  },
  {
    rule: 'plans.md#fields: {} deletes the minimum commitment',
    request: /(POST|PUT) \/plans/,
    at: 'plan.minimum_commitment',
    lacks: 'amount_cents',
  },
  {
    rule: 'plans.md#fields: {} deletes the minimum commitment',
    request: /(POST|PUT) \/subscriptions/,
    at: 'subscription.plan_overrides.minimum_commitment',
    lacks: 'amount_cents',
  },
  {
    rule: 'json.md "timestamps in": ISO 8601',
    request: /POST \/subscriptions$/,
    at: 'subscription.subscription_at',
    is: (value) => isText(value) && !String(value).includes('T'),
  },
  {
    rule: 'previews.md: unknown billing_time is calendar',
    request: /POST \/invoices\/preview/,
    at: 'billing_time',
    is: (value) => value !== 'calendar' && value !== 'anniversary',
  },
  {
    rule: 'wallets.md#fields: the path names the customer',
    request: /POST \/customers\/[^/]+\/wallets$/,
    at: 'wallet',
    lacks: 'external_customer_id',
  },
  { rule: KEEPS, request: /PUT \/subscriptions\/[^/]+$/, at: 'subscription', lacks: 'ending_at' },
  { rule: KEEPS, request: /PUT \/webhook_endpoints/, at: 'webhook_endpoint', lacks: 'webhook_url' },
  { rule: KEEPS, request: /PUT \/credit_notes/, at: 'credit_note', lacks: 'refund_status' },
  {
    rule: 'payment-requests.md#payment-requests: email is optional',
    request: /POST \/payment_requests/,
    at: 'payment_request',
    lacks: 'email',
  },
  {
    rule: 'provider-connections.md#sandbox-provider: input payment_provider "sandbox" is accepted',
    request: /POST \/customers$/,
    at: 'customer.billing_configuration.payment_provider',
    is: (value) => value === 'sandbox',
  },
  {
    rule: 'customers.md#payment-provider: payment_provider null unlinks',
    request: /POST \/customers/,
    at: 'customer.billing_configuration.payment_provider',
    is: isNull,
  },
  { rule: NUMBERS, request: /(POST|PUT) \/plans/, at: 'plan.amount_cents', is: isText },
  { rule: NUMBERS, request: /(POST|PUT) \/plans/, at: 'plan.trial_period', is: isText },
  { rule: NUMBERS, request: /(POST|PUT) \/plans/, at: 'plan.pay_in_advance', is: isText },
  { rule: NUMBERS, request: /(POST|PUT) \/plans/, at: 'plan.fixed_charges.*.units', is: isText },
  { rule: NUMBERS, request: /(POST|PUT) \/(plans|subscriptions)/, at: 'fixed_charge.units', is: isNumber },
  { rule: NUMBERS, request: /(POST|PUT) \/plans/, at: 'charge.min_amount_cents', is: isText },
  { rule: NUMBERS, request: /POST \/customers/, at: 'customer.metadata.*.value', is: isNumber },
  { rule: NUMBERS, request: /POST \/billable_metrics/, at: 'billable_metric.filters.*.values.*', is: isNumber },
  { rule: NULLS, request: /(POST|PUT) \/plans/, at: 'plan.charges', is: isNull },
  { rule: NULLS, request: /(POST|PUT) \/plans/, at: 'plan.charges.*.code', is: isNull },
  { rule: NULLS, request: /(POST|PUT) \/plans/, at: 'plan.metadata', is: isNull },
  { rule: NULLS, request: /POST \/plans/, at: 'plan.charges.*.properties.fixed_amount', is: isNull },
  { rule: NULLS, request: /POST \/plans/, at: 'plan.charges.*.filters.*.properties.fixed_amount', is: isNull },
  { rule: NULLS, request: /(POST|PUT) \/plans/, at: 'charge.applied_pricing_unit', is: isNull },
  { rule: NULLS, request: /POST \/subscriptions$/, at: 'subscription.name', is: isNull },
  { rule: NULLS, request: /PUT \/billable_metrics/, at: 'billable_metric.recurring', is: isNull },
  { rule: NULLS, request: /PUT \/organizations/, at: 'organization.timezone', is: isNull },
];

type FieldRow = Extract<Beyond, { field: string }>;
type RequestRow = Extract<Beyond, { request: RegExp }>;

const requestRows = BEYOND.filter((row): row is RequestRow => 'request' in row);
/** The rows about a field at any depth, by its name: a body of millions of values is walked once for all of them. */
const fieldRows = new Map<string, FieldRow[]>();
for (const row of BEYOND) if ('field' in row) fieldRows.set(row.field, [...(fieldRows.get(row.field) ?? []), row]);

/** The rule by which an exchange goes beyond the contract, or undefined. */
export function ruleBeyond({ method, path, status, requestBody, responseBody }: Talk): string | undefined {
  if (status === UNAVAILABLE) return 'error-bodies.md#shapes: any operation may answer 503';
  if (status === PENDING) return 'error-bodies.md#shapes: a write that takes longer is pending, 504';
  const [route] = path.split('?');
  const isHere = (row: FieldRow) => row.path?.test(route!) ?? true;
  const ofField = fieldRowIn(requestBody, isHere) ?? fieldRowIn(responseBody, isHere);
  if (ofField !== undefined || status >= 300) return ofField?.rule;
  return requestRows.find((row) => {
    if (!row.request.test(`${method} ${route}`)) return false;
    return valuesAt(requestBody, row.at.split('.')).some(
      (value) => row.is?.(value) ?? (isObject(value) && !(row.lacks! in value)),
    );
  })?.rule;
}

/** Likewise of a notification's body. */
export const ruleBeyondBody = (body: unknown): string | undefined =>
  fieldRowIn(body, (row) => row.path === undefined)?.rule;

/** Deeper than any body of the contract; the service takes none below it. */
const DEEPEST = 64;

/** The first row about a field that a value holds at any depth, of the rows that are asked for. */
function fieldRowIn(value: unknown, isAsked: (row: FieldRow) => boolean, depth = 0): FieldRow | undefined {
  if (!isObject(value) || depth > DEEPEST) return undefined;
  for (const name in value) {
    const inner = value[name];
    const row =
      fieldRows.get(name)?.find((each) => isAsked(each) && each.is(inner)) ?? fieldRowIn(inner, isAsked, depth + 1);
    if (row) return row;
  }
  return undefined;
}

function valuesAt(value: unknown, [name, ...rest]: string[]): unknown[] {
  if (name === undefined) return [value];
  if (!isObject(value)) return [];
  if (name === '*') return Object.values(value).flatMap((each) => valuesAt(each, rest));
  return name in value ? valuesAt(value[name], rest) : [];
}
