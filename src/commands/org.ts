import { Command } from 'commander';
import { makeOneTimeLink } from '../areas/tenancy/console-sessions/one-time-links.ts';
import { createOrganization, digestOfKey } from '../areas/tenancy/organizations/commands.ts';
import { type RateLimits, setRateLimits } from '../areas/tenancy/organizations/own-rate-limits.ts';
import { listOrganizations } from '../areas/tenancy/organizations/queries.ts';
import { rotateApiKey } from '../areas/tenancy/organizations/rotate-api-key.ts';
import { rotateHmacKey } from '../areas/tenancy/organizations/rotate-hmac-key.ts';
import { realNow } from '../platform/clock/real-clock.ts';
import type { OrganizationId } from '../platform/ids.ts';
import { rotateKey } from '../platform/keys/deployment-keys.ts';
import { RATE_CATEGORIES } from '../platform/operation.ts';
import { publicUrl } from '../platform/public-url.ts';
import { keyChangesChannel } from '../platform/redis/channels.ts';
import { connectPatiently } from '../platform/redis/connect.ts';
import { Refusal, refuse } from '../platform/refusal.ts';
import { parseInstant } from '../platform/schema/instant-field.ts';
import { seconds } from '../platform/schema/view.ts';
import { inCell, noteOrganization } from './operator/in-cell.ts';
import { onDatabase, type Place } from './operator/on-database.ts';

const PUBLISH_TIMEOUT_MS = 2_000;
/** Word that resets a limit to the service's setting. */
const SETTING = 'setting';

interface Rotation {
  organization: string;
  lastFour?: string;
  name?: string;
  expiresAt?: string;
  json: boolean;
}

const program = new Command('org').description(
  'Organizations and their keys, for the operator: beside a running service, or with nothing running. DATABASE_URL wins.',
);

program
  .command('create')
  .description('make an organization with a key of every permission')
  .requiredOption('--name <name>', 'its name')
  .option('--sandbox', 'it may own a test clock; fixed for life', false)
  .option('--json', 'answer one line of JSON', false)
  .action(({ name, sandbox, json }: { name: string; sandbox: boolean; json: boolean }, command: Command) =>
    onPlace(
      command,
      async ({ sql, config, cell }) => {
        const created = await createOrganization(sql, { name, sandbox }, config);
        if (cell) await noteOrganization(cell, created.organization_id, digestOfKey(created.api_key));
        show(created, json);
      },
      { migrates: true },
    ),
  );

program
  .command('list')
  .description('show every organization and the last characters of its keys')
  .option('--json', 'answer a line of JSON each', false)
  .action(({ json }: { json: boolean }, command: Command) =>
    onPlace(command, async ({ sql }) => {
      const organizations = await listOrganizations(sql, realNow());
      if (organizations.length === 0) console.error('There is no organization yet: make one with "org create".');
      for (const { id, created_at, ...row } of organizations) {
        const line = { organization_id: id, ...row, created_at: seconds(created_at) };
        const kind = row.sandbox ? 'sandbox' : 'live   ';
        console.log(
          json ? JSON.stringify(line) : `${id}  ${line.created_at}  ${kind}  ${row.name}  keys …${row.keys.join(' …')}`,
        );
      }
    }),
  );

program
  .command('rotate-key')
  .description('replace an API key; the old one ends now or at the given time')
  .requiredOption('--organization <id>', 'its organization')
  .option('--last-four <characters>', 'the key, when the organization has several')
  .option('--name <name>', 'name of the new key')
  .option('--expires-at <time>', 'ISO 8601 end of the old key')
  .option('--json', 'answer one line of JSON', false)
  .action((options: Rotation, command: Command) =>
    onPlace(
      command,
      async (place) => {
        const rotated = await rotateApiKey(place.sql, rotationOf(options), place.config);
        await announce(place, options.organization, 'the old key');
        show(rotated, options.json);
      },
      { redis: true },
    ),
  );

program
  .command('rotate-hmac-key')
  .description(
    'replace the key that signs webhooks of an organization by hmac; the old one goes on signing for a while',
  )
  .requiredOption('--organization <id>', 'its organization')
  .option('--expires-in-hours <number>', 'how long the old key signs, 0 to 168', '24')
  .option('--json', 'answer one line of JSON', false)
  .action(
    (
      { organization, expiresInHours, json }: { organization: string; expiresInHours: string; json: boolean },
      command: Command,
    ) =>
      onPlace(command, async ({ sql, config }) =>
        show(await rotateHmacKey(sql, { organizationId: organization, hours: Number(expiresInHours) }, config), json),
      ),
  );

program
  .command('rotate-webhook-key')
  .description('replace the key that signs webhooks by jwt; the old public key stays published for 7 days')
  .action((_options: object, command: Command) =>
    onPlace(command, async (place) => {
      await rotateKey(place, 'webhooks');
      console.log('Replaced. Running processes sign with the new key within a minute.');
    }),
  );

program
  .command('rotate-link-key')
  .description('replace the key that signs links to documents and customer pages; links made before keep their time')
  .action((_options: object, command: Command) =>
    onPlace(command, async (place) => {
      await rotateKey(place, 'links');
      console.log('Replaced. Links that were made before stay valid until they expire.');
    }),
  );

program
  .command('console')
  .description('print a link that opens the console once, within ten minutes')
  .argument('<organization>', 'its name, slug or id')
  .option('--key <id>', 'sign in with this key; default: the oldest valid one')
  .action((organization: string, { key: keyId }: { key?: string }, command: Command) =>
    onPlace(command, async ({ sql, config, baseUrl }) => {
      const { path } = await makeOneTimeLink(sql, { organization, keyId }, realNow());
      console.log(`${new URL(baseUrl ?? publicUrl(config)).origin}${path}`);
    }),
  );

const limits = program
  .command('limits')
  .description('show how many requests an organization may send per second, or give it limits of its own')
  .requiredOption('--organization <id>', 'the organization')
  .option('--json', 'answer one line of JSON; null stands for the setting', false);
for (const category of RATE_CATEGORIES) {
  limits.option(
    `--${category.replaceAll('_', '-')} <number>`,
    `${category} per second, or "setting" for the setting's`,
  );
}
limits.action((sent: SentLimits, command: Command) =>
  onPlace(
    command,
    async (place) => {
      const changes = limitsOf(sent);
      const changed = await setRateLimits({ db: place.sql, organizationId: sent.organization }, changes);
      if (Object.keys(changes).length > 0) await announce(place, sent.organization, 'the former limits');
      const shown = { organization_id: sent.organization, ...changed };
      if (sent.json) console.log(JSON.stringify(shown));
      else for (const [key, value] of Object.entries(shown)) console.log(`${key.padEnd(16)} ${value ?? SETTING}`);
    },
    { redis: true },
  ),
);

for (const command of program.commands)
  command.option('--cell <name>', 'the cell that it is about, where there are cells');

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = 1;
  console.error(error instanceof Refusal ? JSON.stringify(error.body) : (error as Error).message);
}

/** Runs a command where it is to work: in the cell that it names, or where services without cells are. */
function onPlace(
  command: Command,
  work: (place: Place) => Promise<void>,
  asks: { redis?: boolean; migrates?: boolean } = {},
): Promise<void> {
  const { cell } = command.opts<{ cell?: string }>();
  return cell === undefined ? onDatabase(work, asks) : inCell(cell, work);
}

function rotationOf({ organization: organizationId, lastFour, name, expiresAt: end }: Rotation) {
  if (end === undefined) return { organizationId, lastFour, name };
  const expiresAt = parseInstant(end);
  if (expiresAt === undefined) throw refuse.invalid({ expires_at: ['invalid_date'] });
  return { organizationId, lastFour, name, expiresAt };
}

/** Limits from the command line, by category in the camel case of the option parser. */
type SentLimits = { organization: string; json: boolean } & Record<string, string | boolean>;

function limitsOf(sent: SentLimits): Partial<RateLimits> {
  const given = RATE_CATEGORIES.map((category) => [category, sent[inCamelCase(category)]] as const);
  return Object.fromEntries(
    given
      .filter(([, value]) => value !== undefined)
      .map(([category, value]) => [category, value === SETTING ? null : Number(value)]),
  );
}

function inCamelCase(name: string): string {
  return name.replace(/_(.)/g, (_gap, letter: string) => letter.toUpperCase());
}

function show(facts: object, json: boolean): void {
  if (json) console.log(JSON.stringify(facts));
  else for (const [key, value] of Object.entries(facts)) console.log(`${key.padEnd(16)} ${value}`);
}

/** Makes every ingress drop what it caches of the organization's keys; one that misses it does so within a minute. */
async function announce({ config, redisUrl }: Place, organizationId: OrganizationId, former: string): Promise<void> {
  if (redisUrl === undefined) return;
  const redis = connectPatiently(redisUrl, 'meterstone org');
  const message = JSON.stringify({ organization_id: organizationId });
  const published = redis.publish(keyChangesChannel(config.REDIS_PREFIX), message).then(() => true);
  const late = new Promise<false>((resolve) => setTimeout(resolve, PUBLISH_TIMEOUT_MS, false).unref());
  if (!(await Promise.race([published, late])))
    console.error(`Redis did not answer: ${former} may hold for another minute`);
  redis.disconnect();
}
