import { closeSync, openSync, readSync } from 'node:fs';
import { z } from 'zod';
import { whyServersAreWrong } from './db/servers-of-address.ts';
import { pooledUrl } from './db/session-settings.ts';
import { misspelled } from './misspelled.ts';
import { AddressFault, readRedisAddress } from './redis/address.ts';

const whole = (fallback: number, least = 1) => z.coerce.number().int().min(least).default(fallback);
const flag = (fallback: boolean) =>
  z
    .enum(['true', 'false', '1', '0'])
    .default(fallback ? 'true' : 'false')
    .transform((text) => text === 'true' || text === '1');
const seconds = whole;
const HIGHEST_PORT = 65_535;
/** Postgres cuts names at 63 bytes; those of the schemas of previews are up to 15 longer than the service's own. */
const LONGEST_SCHEMA = 48;
/** An address with one of these schemes; '' if unset, which `npm start` fills in. */
const address = (schemes: RegExp) => z.string().regex(schemes, 'must be an address').or(z.literal('')).default('');
/** An address of Postgres, of which several servers may be named. */
const postgresAddress = () =>
  address(/^postgres(ql)?:\/\/./).superRefine((url, issues) => {
    const why = whyServersAreWrong(url);
    if (why !== undefined) issues.addIssue(why);
  });
const POSTGRES_ADDRESSES = /^(postgres(ql)?:\/\/[^,\s]+(,(?=.)|$))*$/;

function checkRedisAddress(url: string, issues: { addIssue(message: string): void }): void {
  try {
    if (url !== '') readRedisAddress(url);
  } catch (error) {
    if (!(error instanceof AddressFault)) throw error;
    issues.addIssue(error.message);
  }
}

/** Several queues of events share the connections of a process, and each costs every process one of its own. */
const MOST_EVENTS_QUEUES = 64;

/** `name=address` with spaces between them, for addresses may hold commas. */
const CELL_SERVERS = /^([a-z][a-z0-9-]{0,29}=postgres(ql)?:\/\/\S+(\s+(?=\S)|$))*$/;
const CELL_NAMES = /^(all|[a-z][a-z0-9-]{0,29}(,[a-z][a-z0-9-]{0,29})*)$/;

const webAddress = z.url({ protocol: /^https?$/, error: 'must be an address that begins with http:// or https://' });

/** First bytes of TrueType, OpenType, collections, and their web form. */
const FONT_STARTS = ['00010000', '74727565', '4f54544f', '74746366', '774f4646', '774f4632'];

/** Whether a font can be read at the path; otherwise an error would appear only with the first document. */
function isFontFile(path: string): boolean {
  try {
    const file = openSync(path, 'r');
    try {
      const start = Buffer.alloc(4);
      readSync(file, start, 0, start.length, 0);
      return FONT_STARTS.includes(start.toString('hex'));
    } finally {
      closeSync(file);
    }
  } catch {
    return false;
  }
}

const SECRETS_KEY_BYTES = 32;
/** Ids of SECRETS_KEY and of the key that is stored in the database. */
const RESERVED_KEY_IDS = ['default', 'deployment'];

/** `a:<base64>,b:<base64>`; errors never show a key. */
function readSecretsKeys(text: string, refuse: (message: string) => void): { id: string; bytes: Buffer }[] {
  const keys = text.split(',').map((part) => {
    const [, id = '', base64 = ''] = /^\s*([^:]*):(.*?)\s*$/.exec(part) ?? [];
    const bytes = Buffer.from(base64, 'base64');
    if (!/^[a-z0-9-]{1,20}$/.test(id)) refuse('takes "id:key" with an id of a-z, 0-9 and "-", 20 characters at most');
    else if (RESERVED_KEY_IDS.includes(id)) refuse(`takes no key with the id "${id}"`);
    else if (bytes.length !== SECRETS_KEY_BYTES) refuse(`takes 32 bytes in base64 as key "${id}"`);
    return { id, bytes };
  });
  if (new Set(keys.map(({ id }) => id)).size < keys.length) refuse('takes each id once');
  return keys;
}

/**
 * Every setting of the service: environment variable, unit, default, meaning. The process refuses to start on a bad
 * value and names it. docs/operations.md prints this table; `npm start` fills DATABASE_URL and REDIS_URL in by itself.
 */
const Settings = z.object({
  PORT: whole(3000, 0).pipe(z.number().max(HIGHEST_PORT)).describe('Port of the ingress; 0 takes a free one'),
  HOST: z.string().default('127.0.0.1').describe('Address the ingress listens on'),
  PUBLIC_URL: webAddress.optional().describe('Public address of the API without path; default http://HOST:PORT'),
  DATA_DIR: z
    .string()
    .default('.data')
    .describe('Folder of `npm start`: data, logs, run file; relative to the project'),
  DATABASE_URL: postgresAddress().describe(
    'Postgres 15 to 18; of several servers, a:5432,b:5432, the one that is the primary',
  ),
  MIGRATION_DATABASE_URL: postgresAddress().describe(
    'Postgres as migrations reach it, past a pooler; default DATABASE_URL',
  ),
  DATABASE_PREPARE: flag(true).describe(
    'Prepared statements; false behind a pooler in transaction mode, as `?prepare=false` in DATABASE_URL',
  ),
  DATABASE_SCHEMA: z
    .string()
    .regex(/^[a-z_][a-z0-9_]*$/, 'must be a name of a-z, 0-9 and _')
    .max(LONGEST_SCHEMA)
    .default('public')
    .describe('Schema that holds the tables'),
  CELLS: z
    .string()
    .regex(CELL_NAMES, 'must be "all" or names with commas between them')
    .optional()
    .describe(
      'Cells whose work the workers do, `all` or names with commas; an ingress serves every one; unset: no cells',
    ),
  CELL_DATABASE_URLS: z
    .string()
    .trim()
    .regex(CELL_SERVERS, 'must be names with addresses, name=postgres://…, with spaces between them')
    .default('')
    .transform((text) =>
      text
        .split(/\s+/)
        .filter((part) => part !== '')
        .map((part) => ({ name: part.slice(0, part.indexOf('=')), url: part.slice(part.indexOf('=') + 1) })),
    )
    .describe('Further Postgres servers of cells, `name=postgres://…` with spaces between them'),
  DATABASE_POOL: whole(12).describe(
    'Connections an ingress or a pool of workers opens at most; a pool runs two jobs fewer at once, but events and deliveries',
  ),
  READ_DATABASE_URL: z
    .string()
    .regex(POSTGRES_ADDRESSES, 'must be addresses with commas between them, each of one server')
    .default('')
    .transform((text) => text.split(',').filter((url) => url !== ''))
    .describe(
      'Read replicas of DATABASE_URL, with commas between them; the ingress reads there what may be a little old',
    ),
  REQUIRE_SYNCHRONOUS_STANDBY: flag(false).describe(
    'Take writes and events only while a synchronous standby follows Postgres; the role needs pg_monitor',
  ),
  READ_REPLICA_MAX_LAG_SECONDS: seconds(5).describe('A replica that is further behind is left out until it catches up'),
  REDIS_URL: address(/^rediss?(\+(cluster|sentinel))?:\/\/./)
    .superRefine(checkRedisAddress)
    .describe(
      'Redis 6.2 or newer with maxmemory-policy noeviction; redis+cluster://a,b,c for a cluster, redis+sentinel://name@a,b,c for Sentinels',
    ),
  REDIS_PREFIX: z
    .string()
    .regex(/^[^{}]*$/, 'must hold no braces')
    .default('meterstone')
    .describe('First part of every Redis key'),
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
    .default('info')
    .describe('Least severe line that is logged'),
  WIRE_PREFIX: z
    .string()
    .regex(/^[a-z][a-z0-9]*$/, 'must be a word of a-z and 0-9')
    .default('svc')
    .describe('Prefix of identifiers and headers on the wire'),
  RATE_LIMIT_EVENTS: whole(500).describe('Requests per second and organization: events'),
  RATE_LIMIT_EVENTS_BULK: whole(10).describe('Requests per second and organization: bulk events'),
  RATE_LIMIT_CURRENT_USAGE: whole(200).describe('Requests per second and organization: current and projected usage'),
  RATE_LIMIT_DEFAULT: whole(50).describe('Requests per second and organization: everything else'),
  RATE_LIMIT_ACCESS: whole(1000).describe('Requests per second and organization: access checks'),
  RATE_LIMIT_BUDGETS: whole(2000).describe('Requests per second and organization: decisions about budgets'),
  RATE_LIMIT_UNAUTHENTICATED: whole(20).describe('Requests per second and client address without a valid key'),
  RATE_LIMIT_CONSOLE: whole(30).describe(
    'Requests per second of one session of the console; an organization has four times as many over all its sessions',
  ),
  TRUST_PROXY_HOPS: whole(0, 0).describe('Proxies in front, for the client address'),
  CONSOLE: flag(true).describe('Serve the console at /console'),
  DOCS: flag(true).describe('Serve the documentation at /docs and the API description at /openapi.json'),
  CONSOLE_SESSION_HOURS: whole(12).describe('Life of a session of the console from its sign-in'),
  CONSOLE_IDLE_MINUTES: whole(120).describe('A session of the console ends after so long without a request'),
  WRITE_TIMEOUT_SECONDS: seconds(10).describe('After it a write answers 504 write_pending'),
  EVENTS_BATCH_MAX_LENGTH: whole(100).describe('Events in one POST /events/batch'),
  TOLERANT_BATCH_MAX_LENGTH: whole(1000).describe('Events in one POST /events/batch?mode=tolerant'),
  BULK_MAX_LINES: whole(10_000).describe('Lines in one POST /events/bulk, blank ones included'),
  BULK_MAX_BYTES: whole(33_554_432).describe('Bytes of one POST /events/bulk, unpacked'),
  EVENTS_QUEUES: whole(1)
    .pipe(z.number().max(MOST_EVENTS_QUEUES))
    .describe('Queues of events, by organization, so that several nodes of a Redis Cluster carry them'),
  EVENTS_MAX_WAITING: whole(5000).describe('Events waiting in one process before it answers 503'),
  IDEMPOTENCY_TTL_HOURS: whole(24).describe('Life of an Idempotency-Key'),
  WEBHOOK_TIMEOUT_SECONDS: seconds(30).describe('One delivery attempt as a whole'),
  WEBHOOK_RETRY_SCHEDULE: z
    .string()
    .regex(/^\d+(,\d+)*$/, 'must be whole numbers with commas between them')
    .default('5,300,1800,7200,18000,36000,36000')
    .transform((text) => text.split(',').map(Number))
    .describe('Seconds between delivery attempts'),
  WEBHOOK_ALLOW_PRIVATE_NETWORKS: flag(false).describe('Deliver to private addresses: development only'),
  PRIVATE_TARGETS: z
    .string()
    .regex(/^([a-z\d]([a-z\d.:-]*[a-z\d])?(,(?=.)|$))*$/i, 'must be hosts with commas between them')
    .default('')
    .transform((text) =>
      text
        .toLowerCase()
        .split(',')
        .filter((host) => host !== ''),
    )
    .describe('Hosts in private networks that payment providers may be reached at, with commas between them'),
  FEED_RETENTION_DAYS: whole(30, 7)
    .pipe(z.number().max(400))
    .describe('Days that an event stays in the feed of events'),
  FEED_SWEEP_MS: whole(200).describe('Milliseconds between two looks for events that wait for the feed'),
  USAGE_ACTIVITY_SECONDS: seconds(60).describe('Tick of usage-activity'),
  LIFETIME_USAGE_SECONDS: seconds(300).describe('Tick of lifetime-usage'),
  WALLET_REFRESH_SECONDS: seconds(300).describe('Tick of wallet-ongoing'),
  VAT_REGISTER_URL: webAddress
    .default('https://ec.europa.eu/taxation_customs/vies/rest-api/check-vat-number')
    .describe('Register that is asked about VAT numbers of customers'),
  SUBSCRIPTION_TERMINATION_ALERT_DAYS: z
    .string()
    .regex(/^\d+(,\d+)*$/, 'must be whole numbers with commas between them')
    .default('15,45')
    .transform((text) => text.split(',').map(Number))
    .describe('Days before the end of a subscription on which its end is announced'),
  CUSTOMER_PORTAL_URL: webAddress
    .optional()
    .describe('Address before /customer-portal in the links to the pages of customers; default that of PUBLIC_URL'),
  PORTAL_TOKEN_TTL_HOURS: whole(12).describe('Life of a link to the pages of a customer'),
  PORTAL_TOP_UP_MAX: whole(10_000).describe(
    'Greatest top-up on the pages of a customer, in main units of its currency, where the wallet has no limit of its own',
  ),
  PAY_LINK_DAYS: whole(60)
    .pipe(z.number().max(400))
    .describe('Life of a link to the page where an invoice or a payment request is paid'),
  DOCUMENT_LINK_TTL_HOURS: whole(24).describe('Life of a link to a document'),
  DRAW_UNASKED: flag(true).describe(
    'Draw the page of every invoice and credit note as soon as it is final, after those that somebody waits for; else when it is asked for first',
  ),
  DOCUMENT_FONT: z
    .string()
    .refine(isFontFile, 'must be the path of a font that can be read')
    .optional()
    .describe('TTF or OTF file that goes before the built-in fonts for Chinese, Japanese and Korean in documents'),
  SMTP_URL: z
    .url({ protocol: /^smtps?$/, error: 'must be the address of a mail server' })
    .optional()
    .describe('Mail server, smtp://user:password@host:587 or smtps://; without it mails stay unsent'),
  MAIL_FROM: z
    .string()
    .regex(/^\S+@\S+$/, 'must be a mail address')
    .default('meterstone@localhost')
    .describe('Address from which mails come'),
  MAIL_FROM_DOMAINS: z
    .string()
    .regex(/^[\w-]+(\.[\w-]+)+(\s*,\s*[\w-]+(\.[\w-]+)+)*$|^$/, 'must be names of domains, divided by commas')
    .default('')
    .transform((text) =>
      text
        .split(',')
        .map((domain) => domain.trim().toLowerCase())
        .filter((domain) => domain !== ''),
    )
    .describe('Domains, divided by commas, from whose addresses any organization may send mails without a code'),
  AUDIT_LOGS_PERIOD_DAYS: whole(30).describe('Days that activity and API logs stay visible'),
  EVENT_KEYS_RETENTION_MONTHS: z.coerce
    .number()
    .int()
    .min(3)
    .optional()
    .describe('Months after which the transaction id of an event that is gone may be used again; unset: never'),
  EVENTS_RAW_DAYS: z.coerce
    .number()
    .int()
    .min(90)
    .optional()
    .describe(
      'Days after their invoice for which raw events are kept, where the organization says nothing; unset: for ever',
    ),
  EVENTS_ARCHIVE_URL: z
    .url({ protocol: /^(?:file|s3)$/, error: 'must be the address of a folder, file:///…, or bucket, s3://…' })
    .optional()
    .describe('Folder or bucket in which raw events are archived before they are removed; unset: without an archive'),
  CONNECTORS_FILE: z.string().optional().describe('File (YAML or JSON) that says which streams are read; unset: none'),
  TEST_CLOCK_MAX_SPAN_YEARS: whole(5).describe('Farthest advance of a test clock'),
  TEST_CLOCK_MAX_STEPS: whole(100_000).describe('Instants with work in one advance'),
  HOLD_MAX_SECONDS: whole(86_400).describe('Longest life of a wallet hold'),
  BUDGET_WINDOWS_MAX: whole(1_000_000).describe('Live windows of a budget with groups beyond which no more are made'),
  BUDGET_HOLD_MAX_SECONDS: whole(86_400).describe('Longest life of a hold of budgets'),
  PRICE_BOOK_WARN_DAYS: whole(45).describe(
    'Age in days of the prices of the deployment beyond which the log warns of them, once a day',
  ),
  SECRETS_KEYS: z
    .string()
    .transform((text, issues) => readSecretsKeys(text, (message) => issues.addIssue(message)))
    .optional()
    .describe('Keys that seal stored secrets, `id:base64(32 bytes)[,id:…]`: the first seals, all open'),
  SECRETS_KEY: z
    .string()
    .min(16)
    .optional()
    .describe('A text in place of SECRETS_KEYS, or beside it while `npm run secrets -- status` counts key `default`'),
  PROVIDER_CALLS_PER_SECOND: whole(20).describe(
    'Calls to one connection of a payment provider in a second, or fewer where its type takes fewer',
  ),
  RECONCILE_DAYS: whole(35)
    .pipe(z.number().min(1).max(400))
    .describe('How far back the daily comparison with payment providers looks'),
  STRIPE_API_URL: webAddress.optional().describe('Address of the Stripe API, where it is not Stripe itself: tests'),
  GOCARDLESS_API_URL: webAddress
    .optional()
    .describe('Address of the GoCardless API, where it is not GoCardless itself: tests'),
  ADYEN_API_URL: webAddress.optional().describe('Address of the Adyen API, where it is not Adyen itself: tests'),
  ANROK_API_URL: webAddress.optional().describe('Address of the Anrok API, where it is not Anrok itself: tests'),
  QUEUE_BOARD: flag(true).describe('Serve the queue board at /queues'),
  QUEUE_BOARD_PASSWORD: z
    .string()
    .optional()
    .describe(
      'Password of user "operator" for the board and /metrics; without it they answer callers of this machine only, no proxy',
    ),
  OPERATOR_TOKEN: z
    .string()
    .min(16)
    .optional()
    .describe(
      'Token of the operator for /api/v1/operations, at least 16 characters; without it there are no such routes',
    ),
  CONCURRENCY_WRITES: whole(32).describe('Commands at once in a writes worker'),
  CONCURRENCY_ASKING: whole(32).describe('Commands that ask a provider first at once in an asking worker'),
  CONCURRENCY_CREDIT_NOTES: whole(8).describe('Commands at once in a credit-notes worker'),
  CONCURRENCY_BUDGETS: whole(8).describe('Jobs of decisions at once in a budgets worker'),
  CONCURRENCY_PREVIEWS: whole(4).describe('Previews at once in a previews worker'),
  CONCURRENCY_EVENTS: whole(64).describe('Event batches at once in an events worker'),
  CONCURRENCY_AGGREGATION: whole(8).describe('Jobs at once in an aggregation worker'),
  CONCURRENCY_BILLING: whole(8).describe('Jobs at once in a billing worker'),
  CONCURRENCY_WEBHOOKS: whole(50).describe('Jobs at once in a webhooks worker'),
  CONCURRENCY_DOCUMENTS: whole(2).describe('Documents read at once in a documents worker, which draws one at a time'),
  CONCURRENCY_PAYMENTS: whole(8).describe('Calls to payment providers at once in a payments worker'),
  CONCURRENCY_CLOCKS: whole(2).describe('Test clocks advanced at once in a clocks worker'),
});

export type Config = z.infer<typeof Settings>;

export class ConfigError extends Error {}

/** Settings read from the environment. Throws a ConfigError that names every bad variable. */
export function loadConfig(environment: Record<string, string | undefined> = process.env): Config {
  const given = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''),
  );
  const parsed = Settings.safeParse(given);
  // The address alone says it, wherever it is handed on to.
  if (parsed.success && !parsed.data.DATABASE_PREPARE && parsed.data.DATABASE_URL !== '')
    return {
      ...parsed.data,
      DATABASE_URL: pooledUrl(parsed.data.DATABASE_URL),
      CELL_DATABASE_URLS: parsed.data.CELL_DATABASE_URLS.map((cell) => ({ ...cell, url: pooledUrl(cell.url) })),
    };
  if (parsed.success) return parsed.data;
  throw new ConfigError(`the settings are not valid: ${parsed.error.issues.map(problemOf).join('; ')}`);
}

/** Example values of settings without a default. */
const EXAMPLES: Record<string, string> = {
  PUBLIC_URL: 'https://billing.example.com',
  MAIL_FROM_DOMAINS: 'billing.example.com,shop.example.com',
  DATABASE_URL: 'postgres://user:password@host:5432/name',
  MIGRATION_DATABASE_URL: 'postgres://user:password@host:5432/name',
  READ_DATABASE_URL: 'postgres://user:password@replica:5432/name',
  CELLS: 'all',
  CELL_DATABASE_URLS: 'second=postgres://user:password@host:5432/name',
  REDIS_URL: 'redis://host:6379',
  CUSTOMER_PORTAL_URL: 'https://billing.example.com',
  DOCUMENT_FONT: '/usr/share/fonts/NotoSansCJK-Regular.otf',
  SMTP_URL: 'smtp://user:password@host:587',
  SECRETS_KEYS: 'a:$(openssl rand -base64 32)',
  SECRETS_KEY: '$(openssl rand -base64 32)',
  OPERATOR_TOKEN: '$(openssl rand -hex 16)',
  PRIVATE_TARGETS: 'pay.internal,10.0.0.7',
  EVENT_KEYS_RETENTION_MONTHS: '24',
  EVENTS_RAW_DAYS: '400',
  EVENTS_ARCHIVE_URL: 'file:///srv/meterstone/events',
  CONNECTORS_FILE: '/etc/meterstone/connectors.yaml',
  STRIPE_API_URL: 'http://127.0.0.1:12111',
  GOCARDLESS_API_URL: 'http://127.0.0.1:12113',
  ADYEN_API_URL: 'http://127.0.0.1:12114',
  ANROK_API_URL: 'http://127.0.0.1:12112',
};

/** `PORT: must be a whole number, for example PORT=3000`: the given value is not shown because it may be a secret. */
function problemOf(issue: z.core.$ZodIssue): string {
  const name = issue.path.join('.');
  const example = EXAMPLES[name] ?? describeSettings().find((setting) => setting.name === name)?.fallback;
  return `${name}: ${wordsOf(issue)}, for example ${name}=${example}`;
}

// The library's messages mention types and patterns; those of the checks above begin with a verb.
function wordsOf(issue: z.core.$ZodIssue): string {
  if (/^(?:must|takes) /.test(issue.message)) return issue.message;
  switch (issue.code) {
    case 'invalid_value':
      return `must be one of ${issue.values.join(', ')}`;
    case 'too_small':
      return issue.origin === 'string'
        ? `must have at least ${issue.minimum} characters`
        : `must be ${issue.minimum} or more`;
    case 'too_big':
      return `must be ${issue.maximum} or less`;
    default:
      return 'must be a whole number';
  }
}

/**
 * A sentence for each variable that is not a setting but was probably meant as one, such as `PORTAL_TOKEN_TTL_HOUR`.
 */
export const doubtfulSettings = (environment: Record<string, string | undefined> = process.env): string[] =>
  misspelled(Object.keys(environment), Object.keys(Settings.shape)).map(
    ({ given, meant }) => `${given} is no setting and has no effect: is ${meant} meant?`,
  );

/** The settings as rows of name, default and meaning, for docs/operations.md and `--help`. */
export function describeSettings(): { name: string; fallback: string; meaning: string }[] {
  const defaults = Settings.parse({}) as Record<string, unknown>;
  return Object.entries(Settings.shape).map(([name, schema]) => {
    const value = defaults[name];
    return {
      name,
      fallback: Array.isArray(value) ? value.join(',') : String(value ?? 'none'),
      meaning: schema.description ?? '',
    };
  });
}
