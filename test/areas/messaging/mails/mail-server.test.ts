import { createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { listDueMails } from '../../../../src/areas/messaging/mails/queries.ts';
import { mailHandlers } from '../../../../src/areas/messaging/send-mails/jobs.ts';
import { createOrganization } from '../../../../src/areas/tenancy/organizations/commands.ts';
import { realNow } from '../../../../src/platform/clock/real-clock.ts';
import { newId } from '../../../../src/platform/ids.ts';
import { createMailer, type Mailer, type OutgoingMail } from '../../../../src/platform/mail/mailer.ts';
import { createMetrics } from '../../../../src/platform/metrics/metrics.ts';
import { reactions } from '../../../../src/reactions.ts';
import { scratchDeps } from '../../../jobs/advance-clock/scratch.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database.ts';
import { openMailServer } from '../../../support/fakes/smtp.ts';
import { openHookReceiver } from '../../../support/hook-receiver.ts';
import { startService } from '../../../support/service.ts';
import { until } from '../../../support/until.ts';
import { ok } from '../../../support/words.ts';

// Handing mails over to a mail server that refuses, delays or drops them: docs/rules/mails.md#the-log.
let database: TestDatabase;
let organizationId: string;
const metrics = createMetrics('test');
const deps = () => ({ ...scratchDeps(database.sql), reactions, metrics });

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.sql`delete from mails`;
  organizationId = (await createOrganization(database.sql, { name: 'Nord', sandbox: false })).organization_id;
});

/** Mails that are due, oldest first. */
async function due(count: number, { of = organizationId, to = ['a@reader.example'] } = {}): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId());
  for (const [index, id] of ids.entries())
    await database.sql`
      insert into mails (id, organization_id, is_automatic, recipients, cc, bcc, subject, body, template, status,
        next_attempt_at, created_at)
      values (${id}, ${of}, false, ${to}, '{}', '{}', ${`Mail ${index}`}, 'Hello', 'invoice', 'pending',
        ${realNow().subtract({ seconds: 1000 - index })}, ${realNow()})`;
  return ids;
}
const send = (mailer: Mailer | undefined, id: string, of = organizationId) =>
  mailHandlers(deps(), mailer)['mail.send']({ organization_id: of, mail_id: id }, {} as never);
const states = () => database.sql<{ status: string; attempts: number; error: string | null; subject: string }[]>`
  select status, attempts, error, subject from mails order by id`;
const counted = async (status: string): Promise<number> =>
  (await metrics.mails.get()).values.find(({ labels }) => labels.status === status && labels.template === 'invoice')
    ?.value ?? 0;

/** A mailer that keeps what it is given. */
function keeping(answer: (mail: OutgoingMail) => Promise<void> = async () => {}) {
  const sent: OutgoingMail[] = [];
  const mailer: Mailer = {
    async send(mail, addresses) {
      await answer(mail);
      sent.push(mail);
      return addresses.map((address) => ({ address, state: 'accepted', error: null }));
    },
    close: () => {},
  };
  return { sent, mailer };
}

test('one job goes on to what is due besides, and two workers send no mail twice', async () => {
  const ids = await due(30);
  const { sent, mailer } = keeping(() => new Promise((resolve) => setTimeout(resolve, 5)));
  const before = await counted('sent');
  await Promise.all([send(mailer, ids[0]!), send(mailer, ids[0]!), send(mailer, ids[1]!)]);
  expect(sent.map(({ id }) => id).sort()).toEqual([...ids].sort());
  expect(new Set((await states()).map(({ status }) => status))).toEqual(new Set(['sent']));
  expect((await counted('sent')) - before).toBe(30);
});

test('of an organization at most 100 are taken up at a time, oldest first, and others are not behind them', async () => {
  const many = await due(120);
  const other = (await createOrganization(database.sql, { name: 'Other', sandbox: false })).organization_id;
  const [one] = await due(1, { of: other });
  await database.sql`update mails set next_attempt_at = ${realNow()} where id = ${one!}`;
  const taken = await listDueMails(database.sql, realNow().add({ seconds: 1 }), 500);
  expect(taken.filter(({ organization_id: of }) => of === organizationId).map(({ mail_id: id }) => id)).toEqual(
    many.slice(0, 100),
  );
  expect(taken.some(({ mail_id: id }) => id === one)).toBe(true);
  const { sent, mailer } = keeping();
  await send(mailer, many[0]!);
  const place = sent.findIndex(({ id }) => id === one);
  // By lot between two organizations: that it comes last of 121 has odds of one to 2 to the 120th.
  expect(place).toBeLessThan(120);
  expect(sent).toHaveLength(121);
});

test('a process hands over at most ten at once, and what finds no place stays due', async () => {
  const ids = await due(40);
  let open = 0;
  let most = 0;
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { sent, mailer } = keeping(async () => {
    open += 1;
    most = Math.max(most, open);
    await held;
    open -= 1;
  });
  const handler = mailHandlers(deps(), mailer)['mail.send'];
  const jobs = ids.map((id) => handler({ organization_id: organizationId, mail_id: id }, {} as never));
  await until(async () => open === 10 || undefined);
  expect((await states()).filter(({ attempts }) => attempts > 0)).toHaveLength(10);
  release();
  await Promise.all(jobs);
  expect([most, sent.length]).toEqual([10, 40]);
});

test.each([
  ['says 4xx for ever', { refused: Number.POSITIVE_INFINITY }, /451/],
  ['refuses every address for now', { replies: { 'a@reader.example': Array(9).fill('450 4.2.1 later') } }, /450/],
])('a server that %s is asked seven times within a day, then the mail has failed', async (_what, options, error) => {
  const server = await openMailServer(options);
  const mailer = createMailer({ SMTP_URL: server.url, MAIL_FROM: 'billing@house.test' })!;
  const [id] = await due(1);
  const before = await counted('failed');
  for (let attempt = 1; attempt <= 7; attempt += 1) {
    await send(mailer, id!);
    expect(await states()).toMatchObject([
      { attempts: attempt, status: attempt === 7 ? 'failed' : 'pending', error: expect.stringMatching(error) },
    ]);
    const [row] = await database.sql<{ minutes: number | null }[]>`
      select round(extract(epoch from next_attempt_at - now()) / 60)::integer as minutes from mails`;
    expect(row!.minutes).toBe([1, 5, 30, 120, 480, 960, null][attempt - 1]);
    await database.sql`update mails set next_attempt_at = now() - interval '1 second' where status = 'pending'`;
  }
  await send(mailer, id!);
  expect(await states()).toMatchObject([{ attempts: 7 }]);
  expect((await counted('failed')) - before).toBe(1);
  mailer.close();
  await server.close();
});

test('a sender that is taken back while a mail waits is used no more', async () => {
  const [entity] = await database.sql<{ id: string }[]>`
    select id from billing_entities where organization_id = ${organizationId}`;
  await database.sql`
    insert into mail_senders (organization_id, billing_entity_id, from_address, verified_at, updated_at)
    values (${organizationId}, ${entity!.id}, 'own@nord.example', now(), now())`;
  const ids = await due(2);
  await database.sql`update mails set from_address = 'own@nord.example', billing_entity_id = ${entity!.id}`;
  const { sent, mailer } = keeping(async () => {
    await database.sql`delete from mail_senders where organization_id = ${organizationId}`;
  });
  await send(mailer, ids[0]!);
  expect(sent.map(({ from }) => from)).toEqual(['own@nord.example', null]);
});

describe('a server that breaks off', () => {
  const sockets = new Set<Socket>();
  const opened = async (say: (socket: Socket) => void) => {
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => {});
      say(socket);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    return { url: `smtp://127.0.0.1:${port}`, close: () => new Promise((resolve) => server.close(resolve)) };
  };

  test.each([
    ['at once', (socket: Socket) => socket.destroy()],
    ['after its greeting', (socket: Socket) => void socket.write('220 hello\r\n', () => socket.destroy())],
    ['in strange words', (socket: Socket) => void socket.write('\u0000\u0001 no mail here\r\n'.repeat(50))],
  ])('%s leaves the mail due, with its reason', async (_when, say) => {
    const server = await opened(say);
    const mailer = createMailer({ SMTP_URL: server.url, MAIL_FROM: 'billing@house.test' })!;
    const [id] = await due(1);
    await send(mailer, id!);
    expect(await states()).toMatchObject([{ status: 'pending', attempts: 1, error: expect.any(String) }]);
    mailer.close();
    for (const socket of sockets) socket.destroy();
    await server.close();
  });
});

test('a refusal that is very long or has lines is kept as a text of one size', async () => {
  const [id] = await due(1);
  const mailer: Mailer = {
    send: async (_mail, addresses) =>
      addresses.map((address) => ({ address, state: 'refused', error: `550 ${'\u0000x\r\n'.repeat(5000)}` })),
    close: () => {},
  };
  await send(mailer, id!);
  const [row] = await states();
  expect(row).toMatchObject({ status: 'failed' });
  expect(row!.error!.length).toBeLessThanOrEqual(1000);
});

test('a mail that nobody gets is announced once to endpoints that name it, without its recipients', async () => {
  const server = await openMailServer({ replies: { 'gone@reader.example': ['550 5.1.1 no such user'] } });
  const live = await startService({ settings: { SMTP_URL: server.url, MAIL_FROM: 'billing@house.test' } });
  const hooks = await openHookReceiver();
  try {
    const org = await live.org();
    const endpoint = (webhook_url: string, event_types?: string[]) =>
      ok(org.post('/webhook_endpoints', { webhook_endpoint: { webhook_url, ...(event_types && { event_types }) } }));
    await endpoint(`${hooks.url}/named`, ['mail.failed']);
    await endpoint(`${hooks.url}/all`);
    const mail_template = { locale: 'en', to: 'gone@reader.example' };
    await ok(org.post('/mail_templates/invoice/test', { mail_template }));
    const [row] = await until(async () => {
      const { mails } = await ok(org.get('/mails?statuses[]=failed'));
      return mails.length > 0 ? mails : undefined;
    });
    const { to, cc, bcc, recipients, ...mail } = row;
    const [event] = await until(async () => {
      const rows = await live.sql<{ payload: string }[]>`
        select payload from webhook_events where webhook_type = 'mail.failed'`;
      return rows.length > 0 ? rows : undefined;
    });
    const payload = typeof event!.payload === 'string' ? JSON.parse(event!.payload) : event!.payload;
    expect(payload).toMatchObject({ webhook_type: 'mail.failed', object_type: 'mail', mail });
    expect(JSON.stringify(payload)).not.toContain('gone@reader.example"');
    const deliveries = await live.sql<{ webhook_url: string }[]>`
      select endpoint.webhook_url from webhook_deliveries delivery
      join webhook_endpoints endpoint on endpoint.id = delivery.webhook_endpoint_id`;
    expect(deliveries.map(({ webhook_url }) => webhook_url)).toEqual([`${hooks.url}/named`]);
  } finally {
    await live.stop();
    await hooks.close();
    await server.close();
  }
});
