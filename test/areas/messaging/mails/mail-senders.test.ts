import { afterAll, beforeAll, expect, test } from 'vitest';
import { openMailServer } from '../../../support/fakes/smtp.ts';
import { startService, type TestService } from '../../../support/service.ts';
import { until } from '../../../support/until.ts';
import { ok } from '../../../support/words.ts';

// From whom mails come, and how an address is verified: docs/rules/mails.md#senders.
type Org = Awaited<ReturnType<TestService['org']>>;
let service: TestService;
let server: Awaited<ReturnType<typeof openMailServer>>;

beforeAll(async () => {
  server = await openMailServer();
  service = await startService({
    pools: ['writes', 'webhooks', 'payments', 'documents'],
    settings: { SMTP_URL: server.url, MAIL_FROM: 'billing@house.test', MAIL_FROM_DOMAINS: 'house.example' },
  });
});
afterAll(async () => {
  await service.stop();
  await server.close();
});

async function seller(): Promise<Org> {
  const org = await service.org();
  await ok(
    org.post('/billing_entities', { billing_entity: { code: 'nord', name: 'Nord GmbH', email: 'a@nord.example' } }),
  );
  return org;
}
const PATH = '/billing_entities/nord/mail_sender';
const put = (org: Org, mail_sender: object) => org.put(PATH, { mail_sender });
const verify = (org: Org, code: string) => org.post(`${PATH}/verify`, { mail_sender: { code } });

/** The code in the newest mail to an address; the log shows a sign in its place. */
const codeTo = (address: string): Promise<string> =>
  until(async () => {
    const mail = server.mails.findLast(({ to }) => to.includes(address));
    return mail && /^(\d{6})\r?$/m.exec(mail.data)?.[1];
  });

const sendTest = async (org: Org, to: string): Promise<string> => {
  const mail_template = { locale: 'en', billing_entity_code: 'nord', to };
  await ok(org.post('/mail_templates/invoice/test', { mail_template }));
  return (await until(async () => server.mails.find((mail) => mail.to.includes(to)))).data;
};

test('an address of another domain counts once its code is told; until then it gets replies (CO40)', async () => {
  const org = await seller();
  const from_address = 'billing@nord.example';
  const unverified = (await ok(put(org, { from_name: 'Nord\r\nBcc: x@y.example', from_address }))).mail_sender;
  expect(unverified).toEqual({
    from_name: 'Nord Bcc: x@y.example',
    from_address,
    reply_to: null,
    bcc_issuer: false,
    status: 'unverified',
  });
  const before = await sendTest(org, 'one@reader.example');
  expect(before).toMatch(/^From: "?Nord Bcc: x@y.example"? <billing@house.test>\r$/m);
  expect(before).toMatch(/^Reply-To: billing@nord.example\r$/m);
  expect(before).toMatch(/^Auto-Submitted: auto-generated\r$/m);
  expect(before).not.toMatch(/^Bcc:/m);

  const code = await codeTo(from_address);
  const [logged] = (await ok(org.get('/mails?per_page=100'))).mails.filter(({ to }: { to: string[] }) =>
    to.includes(from_address),
  );
  const shown = (await ok(org.get(`/mails/${logged.svc_id}`))).mail;
  expect(`${shown.text}${shown.html}`).not.toContain(code);
  const verified = (await ok(verify(org, code))).mail_sender;
  expect(verified.status).toBe('verified');
  const after = await sendTest(org, 'two@reader.example');
  expect(after).toMatch(/^From: .*<billing@nord.example>\r$/m);
  expect(server.mails.every(({ from }) => from === 'billing@house.test')).toBe(true);
});

test('a wrong code is refused, and after five of them every code (CO40)', async () => {
  const org = await seller();
  await ok(put(org, { from_address: 'five@nord.example' }));
  const code = await codeTo('five@nord.example');
  const wrong = code === '000000' ? '000001' : '000000';
  for (let tries = 0; tries < 5; tries += 1)
    expect((await verify(org, wrong)).body).toMatchObject({
      status: 422,
      error_details: { code: ['value_is_invalid'] },
    });
  for (const each of [wrong, code])
    expect((await verify(org, each)).body).toMatchObject({ status: 405, code: 'verification_expired' });
  expect((await ok(org.get(PATH))).mail_sender.status).toBe('unverified');
});

test('a code works for 30 minutes, and a new one ends the former', async () => {
  const org = await seller();
  await ok(put(org, { from_address: 'late@nord.example' }));
  const first = await codeTo('late@nord.example');
  await service.sql`update mail_senders set code_expires_at = now() where from_address = 'late@nord.example'`;
  expect((await verify(org, first)).body).toMatchObject({ status: 405, code: 'verification_expired' });
  await ok(put(org, { from_address: 'late@nord.example' }));
  expect([405, 422]).toContain((await verify(org, first)).status);
});

test('of codes there are five a day', async () => {
  const org = await seller();
  for (const name of ['a', 'b', 'c', 'd', 'e']) await ok(put(org, { from_address: `${name}@day.example` }));
  const { body } = await put(org, { from_address: 'f@day.example' });
  expect(body).toMatchObject({ status: 422, error_details: { from_address: ['invalid_count'] } });
  expect((await ok(org.get(PATH))).mail_sender.from_address).toBe('e@day.example');
  await service.sql`update mail_senders set codes_on = codes_on - 1 where from_address = 'e@day.example'`;
  await ok(put(org, { from_address: 'f@day.example' }));
});

test('an address in a domain of the deployment is verified at once; null goes back to none', async () => {
  const org = await seller();
  expect((await ok(put(org, { from_address: 'us@House.example', bcc_issuer: true }))).mail_sender.status).toBe(
    'verified',
  );
  await sendTest(org, 'three@reader.example');
  const mail = server.mails.find(({ to }) => to.includes('three@reader.example'))!;
  expect(mail.to).toEqual(['three@reader.example', 'a@nord.example']);
  expect((await ok(put(org, { from_address: null }))).mail_sender).toMatchObject({
    from_address: null,
    status: 'default',
  });
});

test.each([
  [{ from_address: 'a@b.example, c@d.example' }, { from_address: ['invalid_email_format'] }],
  [{ from_address: 'a@b.example\r\nBcc: c@d.example' }, { from_address: ['invalid_email_format'] }],
  [{ reply_to: 'nobody' }, { reply_to: ['invalid_email_format'] }],
  [{ from_name: 'x'.repeat(101) }, { from_name: ['value_is_too_long'] }],
  [{ bcc_issuer: 'perhaps' }, { bcc_issuer: ['value_is_invalid'] }],
])('%j is refused', async (sent, error_details) => {
  const org = await seller();
  expect((await put(org, sent)).body).toMatchObject({ status: 422, error_details });
});
