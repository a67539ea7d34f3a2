import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sendEDocuments } from '../../../../../src/areas/documents/e-documents/transmissions/jobs.ts';
import { realNow } from '../../../../../src/platform/clock/real-clock.ts';
import { createProducer, type Producer } from '../../../../../src/platform/queue/producer.ts';
import type { Client } from '../../../../support/client.ts';
import { type FakeAccessPoint, fakeAccessPoint } from '../../../../support/fakes/access-point.ts';
import { startService, type TestService } from '../../../../support/service.ts';
import { until } from '../../../../support/until.ts';
import { ok } from '../../../../support/words.ts';
import { openSeller } from '../seller-story.ts';

// Electronic documents on their way to their receivers: docs/rules/e-documents.md "sending".
let service: TestService;
let producer: Producer;
let point: FakeAccessPoint;
let client: Client & { organization: { organization_id: string } };

beforeAll(async () => {
  service = await startService();
  producer = createProducer(service.redis, service.config.REDIS_PREFIX);
  point = await fakeAccessPoint();
  client = (await service.org()) as never;
  await ok(
    client.put('/organizations', {
      organization: {
        country: 'DE',
        tax_identification_number: 'DE123456789',
        address_line1: 'Hauptstr. 1',
        city: 'Berlin',
        zipcode: '10115',
        legal_name: 'Muster GmbH',
        email: 'billing@muster.example',
      },
    }),
  );
  await ok(client.post('/taxes', { tax: { code: 'ust', name: 'USt', rate: '19', applied_to_organization: true } }));
  await ok(
    client.post('/add_ons', { add_on: { code: 'hour', name: 'Hour', amount_cents: 10_000, amount_currency: 'EUR' } }),
  );
});
afterAll(async () => {
  await producer.close();
  await point.close();
  await service.stop();
});

const connection = (fields: object = {}) => ({
  integration: {
    ...{ type: 'e_invoicing', code: 'point', name: 'Access point' },
    ...{ endpoint_url: point.url, shared_secret: point.secret, ...fields },
  },
});

/** A ready document of a new customer with an address of its own. */
async function ready(endpoint: string): Promise<string> {
  await ok(
    client.post('/customers', {
      customer: {
        ...{ external_id: endpoint, currency: 'EUR', legal_name: 'Client SA', country: 'FR', city: 'Paris' },
        ...{ zipcode: '75001', tax_identification_number: 'FR44732829320' },
        e_invoicing: { endpoint_id: endpoint, endpoint_scheme: '0088' },
      },
    }),
  );
  const fees = [{ add_on_code: 'hour', units: 2 }];
  const { invoice } = await ok(
    client.post('/invoices', { invoice: { external_customer_id: endpoint, currency: 'EUR', fees } }),
  );
  const made = await ok(
    client.post(`/invoices/${invoice.svc_id}/e_documents`, { e_document: { profile: 'en16931_cii' } }),
  );
  const id = made.e_document.svc_id;
  await until(async () => (await ok(client.get(`/e_documents/${id}`))).e_document.status === 'ready');
  return id;
}

const send = (id: string) => client.post(`/e_documents/${id}/send`);
// biome-ignore lint/suspicious/noExplicitAny: a transmission as the API shows it
const lastOf = async (id: string): Promise<any> =>
  (await ok(client.get(`/e_documents/${id}`))).e_document.transmissions.at(-1);
/** The latest sending of a document, once it is in a state. */
const reaches = (id: string, status: string) =>
  until(async () => {
    const last = await lastOf(id);
    return last?.status === status ? last : undefined;
  });
/** The minute in which a document falls due. */
async function tick(id: string): Promise<void> {
  await service.sql`
    update e_document_transmissions set next_at = ${realNow()} where e_document_id = ${id} and next_at is not null`;
  await sendEDocuments.sweep({ sql: service.sql, producer } as never, realNow());
}
const at = (id: string) => [...point.documents.values()].find(({ data }) => data.receiver.id === id)!;

describe('the connection to an access point', () => {
  test('without one nothing can be sent', async () => {
    const answer = await send(await ready('4000000000001'));
    expect([answer.status, answer.body.code]).toEqual([404, 'object_not_found']);
  });

  test.each([
    [{ endpoint_url: null }, { endpoint_url: ['value_is_mandatory'] }],
    [{ shared_secret: null }, { shared_secret: ['value_is_mandatory'] }],
    [{ shared_secret: 'secret' }, { shared_secret: ['value_is_invalid'] }],
    [{ endpoint_url: 'ftp://there.example' }, { endpoint_url: ['value_is_invalid'] }],
    [{ api_key: 'key' }, { api_key: ['value_must_be_blank'] }],
  ])('%j is refused', async (fields, details) => {
    const answer = await client.post('/integrations', connection(fields));
    expect([answer.status, answer.body.error_details]).toEqual([422, details]);
  });

  test('a secret that the access point does not know is not stored', async () => {
    const other = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    const answer = await client.post('/integrations', connection({ shared_secret: other }));
    expect([answer.status, answer.body.code]).toEqual([422, 'third_party_error']);
  });

  test('one that works is connected; an organization has one, and no customer is linked with it', async () => {
    const { integration } = await ok(client.post('/integrations', connection()));
    expect(integration).toMatchObject({
      status: 'connected',
      category: 'e_invoicing',
      settings: { driver: 'custom', endpoint_url: point.url },
      shared_secret_last4: point.secret.slice(-4),
    });
    const [stored] = await service.sql`select secrets::text as secrets from integrations where code = 'point'`;
    expect(stored!.secrets).not.toContain(point.secret);
    const second = await client.post('/integrations', connection({ code: 'second' }));
    expect([second.status, second.body.error_details]).toEqual([422, { type: ['value_already_exist'] }]);
    const link = { integration_type: 'anrok', integration_code: 'point', external_customer_id: 'x' };
    const linked = await client.post('/customers', {
      customer: { external_id: 'linked', integration_customers: [link] },
    });
    expect(linked.status).toBe(422);
  });
});

describe('a document on its way', () => {
  test('it is sent, delivered and accepted, each once, and reports that would undo that are counted', async () => {
    const id = await ready('4000000000010');
    const { e_document } = await ok(send(id));
    expect(e_document.transmissions).toMatchObject([{ status: 'queued', attempts: 0, provider_id: null }]);
    const sent = await reaches(id, 'sent');
    const taken = at('4000000000010');
    expect(sent).toMatchObject({ provider_id: taken.id, attempts: 1, error: null });
    expect(taken.data).toMatchObject({
      profile: 'en16931_cii',
      kind: 'document',
      content_type: 'application/xml',
      sender: { scheme: '9930', id: 'DE123456789' },
      receiver: { scheme: '0088', id: '4000000000010' },
      sha256: e_document.sha256,
    });
    taken.status = 'delivered';
    await tick(id);
    expect((await reaches(id, 'delivered')).delivered_at).not.toBeNull();
    const again = await send(id);
    expect([again.status, again.body.code]).toEqual([405, 'invalid_status']);
    taken.status = 'sent';
    await tick(id);
    await until(async () => {
      const [row] = await service.sql`select ignored_reports from e_document_transmissions where e_document_id = ${id}`;
      return row!.ignored_reports === 1;
    });
    taken.status = 'accepted';
    await tick(id);
    await reaches(id, 'accepted');
    const listed = await ok(client.get('/e_documents?transmission_statuses[]=accepted'));
    expect(listed.e_documents.map(({ svc_id }: { svc_id: string }) => svc_id)).toEqual([id]);
    const [activities] = await service.sql<{ count: number }[]>`
      select count(*) as count from activity_logs where activity_type = 'e_document.status_updated'`;
    expect(activities!.count).toBe(3);
  });

  test('an answer that is lost is asked for again under the same id, and one document arrives', async () => {
    const id = await ready('4000000000011');
    point.loseNext('document.send');
    await ok(send(id));
    const queued = await until(async () => {
      const last = await lastOf(id);
      return last.attempts === 1 ? last : undefined;
    });
    expect(queued).toMatchObject({ status: 'queued', error: { code: 'unreachable' } });
    await ok(send(id));
    const sent = await reaches(id, 'sent');
    expect(sent.svc_id).toBe(queued.svc_id);
    const ids = point.posts.filter(
      ({ type, data }) => type === 'document.send' && data.receiver.id === '4000000000011',
    );
    expect(ids.map((post) => post.id)).toEqual([queued.svc_id, queued.svc_id]);
    expect([...point.documents.keys()].filter((each) => each === queued.svc_id)).toHaveLength(1);
  });

  test('one call too many is made again when the access point takes it', async () => {
    const id = await ready('4000000000012');
    point.tooManyNext();
    await ok(send(id));
    expect(await reaches(id, 'sent')).toMatchObject({ attempts: 1 });
  });

  test('a receiver that nobody knows ends it before it is handed over', async () => {
    const id = await ready('4000000000013');
    point.unknown.add('4000000000013');
    await ok(send(id));
    expect(await reaches(id, 'failed')).toMatchObject({ error: { code: 'unknown_receiver' }, provider_id: null });
    const handed = point.posts.filter(
      ({ type, data }) => type === 'document.send' && data.receiver.id === '4000000000013',
    );
    expect(handed).toEqual([]);
  });

  test('a profile that the receiver does not take ends it; it is sent anew when that is repaired', async () => {
    const id = await ready('4000000000014');
    point.refusedProfiles.add('en16931_cii');
    await ok(send(id));
    expect(await reaches(id, 'failed')).toMatchObject({ error: { code: 'profile_not_supported' } });
    point.refusedProfiles.clear();
    await ok(send(id));
    await reaches(id, 'sent');
    expect((await ok(client.get(`/e_documents/${id}`))).e_document.transmissions).toHaveLength(2);
  });

  test('a rejection keeps its reason, changes no invoice, and another sending may follow', async () => {
    const id = await ready('4000000000015');
    const { e_document } = await ok(send(id));
    await reaches(id, 'sent');
    Object.assign(at('4000000000015'), { status: 'rejected', reason: { code: 'AB', message: 'Wrong order number' } });
    await tick(id);
    const rejected = await reaches(id, 'rejected');
    expect(rejected.error).toEqual({ code: 'AB', message: 'Wrong order number' });
    const { invoice } = await ok(client.get(`/invoices/${e_document.svc_subject_id}`));
    expect(invoice.status).toBe('finalized');
    const { e_document: again } = await ok(send(id));
    expect(again.transmissions.map(({ status }: { status: string }) => status)).toEqual(['rejected', 'queued']);
  });

  test('of which nothing was heard, it is sent anew, and the former sending has failed', async () => {
    const id = await ready('4000000000016');
    await ok(send(id));
    await reaches(id, 'sent');
    const { e_document } = await ok(send(id));
    expect(e_document.transmissions).toMatchObject([
      { status: 'failed', error: { code: 'sent_again' } },
      { status: 'queued' },
    ]);
  });

  test('the database refuses a second sending of a document that is on its way', async () => {
    const id = await ready('4000000000017');
    await ok(send(id));
    await reaches(id, 'sent');
    await expect(
      service.sql`
        insert into e_document_transmissions (id, organization_id, e_document_id, integration_id, queued_at, created_at,
          updated_at)
        select gen_random_uuid(), organization_id, e_document_id, integration_id, queued_at, created_at, updated_at
        from e_document_transmissions where e_document_id = ${id}`,
    ).rejects.toThrow('e_document_transmissions_open_key');
  });
});

describe('what an access point says by itself', () => {
  let sentId: string;
  let providerId: string;
  const address = async () => new URL((await ok(client.get('/integrations/point'))).integration.inbound_url);
  /** Posts a signed body to where reports go. */
  async function tell(body: string, { secret = point.secret, at = new Date(), code = 'point' } = {}): Promise<number> {
    const url = await address();
    url.searchParams.set('code', code);
    const headers = {
      'webhook-id': 'report',
      'webhook-timestamp': `${Math.trunc(at.getTime() / 1000)}`,
      'webhook-signature': new Webhook(secret).sign('report', at, body),
    };
    return (await fetch(`${service.url}${url.pathname}${url.search}`, { method: 'POST', headers, body })).status;
  }
  const report = (id: string, status: string, fields: object = {}) =>
    JSON.stringify({ id, type: 'document.updated', data: { id: providerId, status, ...fields } });
  const ignored = async () => {
    const [row] = await service.sql`
      select ignored_reports from e_document_transmissions where provider_id = ${providerId}`;
    return row!.ignored_reports;
  };

  test('a report changes the state at once, and is announced', async () => {
    sentId = await ready('4000000000030');
    await ok(send(sentId));
    providerId = (await reaches(sentId, 'sent')).provider_id;
    expect(await tell(report('e1', 'accepted'))).toBe(200);
    expect(await lastOf(sentId)).toMatchObject({ status: 'accepted', attempts: 1 });
    const told = await service.sql`
      select from webhook_events where webhook_type = 'e_document.status_updated' and object_id = ${sentId}`;
    expect(told).toHaveLength(2);
  });

  test('a later report that would undo it is counted once, however often it is repeated', async () => {
    expect([await tell(report('e2', 'delivered')), await tell(report('e2', 'delivered'))]).toEqual([200, 200]);
    expect(await tell(report('e1', 'accepted'))).toBe(200);
    expect([await ignored(), (await lastOf(sentId)).status]).toEqual([1, 'accepted']);
  });

  test('only the latest ids of reports are kept', async () => {
    for (let number = 0; number < 25; number += 1) await tell(report(`many-${number}`, 'accepted'));
    const [row] = await service.sql<{ heard: string[] }[]>`
      select heard from e_document_transmissions where provider_id = ${providerId}`;
    expect([row!.heard.length, row!.heard[0], row!.heard.at(-1)]).toEqual([20, 'many-5', 'many-24']);
  });

  test('a rejection keeps its reason in a length that is stored, and no half of a sign', async () => {
    const id = await ready('4000000000031');
    await ok(send(id));
    providerId = (await reaches(id, 'sent')).provider_id;
    const message = `${'x'.repeat(499)}😀`;
    expect(await tell(report('e3', 'rejected', { reason: { code: 'AB', message } }))).toBe(200);
    expect((await lastOf(id)).error).toEqual({ code: 'AB', message: `${'x'.repeat(499)}\ufffd` });
  });

  test('what ended keeps its reason, and is not asked about again, whatever is reported later', async () => {
    expect(await tell(report('e4', 'accepted', { reason: { code: 'OK', message: 'Taken after all' } }))).toBe(200);
    expect(await tell(report('e5', 'rejected'))).toBe(200);
    const [rejected] = await service.sql`
      select status, error, next_at from e_document_transmissions where provider_id = ${providerId}`;
    expect(rejected).toMatchObject({ status: 'rejected', error: { code: 'AB' }, next_at: null });
    const id = await ready('4000000000032');
    await ok(send(id));
    const former = providerId;
    providerId = (await reaches(id, 'sent')).provider_id;
    await ok(send(id));
    expect(await tell(report('e6', 'delivered'))).toBe(200);
    const [failed] = await service.sql`
      select status, error, next_at from e_document_transmissions where provider_id = ${providerId}`;
    expect(failed).toMatchObject({ status: 'failed', error: { code: 'sent_again' }, next_at: null });
    providerId = former;
  });

  test.each([
    [
      'of an unknown document',
      JSON.stringify({ id: 'e9', type: 'document.updated', data: { id: '?', status: 'sent' } }),
    ],
    ['of another type', JSON.stringify({ id: 'e9', type: 'participant.updated', data: {} })],
  ])('a report %s is heard and changes nothing', async (_, body) => {
    expect(await tell(body)).toBe(200);
  });

  test.each([
    ['that is no JSON', 'x'],
    [
      'with a state of its own',
      JSON.stringify({ id: 'e9', type: 'document.updated', data: { id: '?', status: 'lost' } }),
    ],
    ['without an id', JSON.stringify({ type: 'document.updated', data: { id: '?', status: 'sent' } })],
  ])('a report %s is refused', async (_, body) => {
    expect(await tell(body)).toBe(400);
  });

  test('a report with another secret, of another time or for another connection is refused', async () => {
    const secret = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;
    const body = report('e7', 'paid_reported');
    expect(await tell(body, { secret })).toBe(400);
    expect(await tell(body, { at: new Date(Date.now() - 6 * 60_000) })).toBe(400);
    expect(await tell(body, { code: 'other' })).toBe(400);
  });

  test('one organization cannot report about the documents of another', async () => {
    const other = (await service.org()) as never as typeof client;
    await ok(other.post('/integrations', connection()));
    const { pathname, search } = new URL((await ok(other.get('/integrations/point'))).integration.inbound_url);
    const body = report('e8', 'paid_reported');
    const at = new Date();
    const headers = {
      'webhook-id': 'report',
      'webhook-timestamp': `${Math.trunc(at.getTime() / 1000)}`,
      'webhook-signature': new Webhook(point.secret).sign('report', at, body),
    };
    const { status } = await fetch(`${service.url}${pathname}${search}`, { method: 'POST', headers, body });
    const [row] = await service.sql`
      select status, heard from e_document_transmissions where provider_id = ${providerId}`;
    expect([status, row]).toEqual([200, { status: 'rejected', heard: ['e3', 'e4', 'e5'] }]);
  });
});

describe('an access point that is connected anew with the same secret', () => {
  test.each(['point', 'point-2'])('under the code %s, it is heard about what was sent before', async (code) => {
    const id = await ready(`40000000001${code.length}0`);
    await ok(send(id));
    const { provider_id: providerId } = await reaches(id, 'sent');
    const [live] = (await ok(client.get('/integrations'))).integrations;
    await ok(client.delete(`/integrations/${live.code}`));
    await ok(client.post('/integrations', connection({ code })));
    const { integration } = await ok(client.get(`/integrations/${code}`));
    const { pathname, search } = new URL(integration.inbound_url);
    const tell = async (eventId: string, secret: string): Promise<number> => {
      const body = JSON.stringify({
        id: eventId,
        type: 'document.updated',
        data: { id: providerId, status: 'delivered' },
      });
      const at = new Date();
      const headers = {
        'webhook-id': eventId,
        'webhook-timestamp': `${Math.trunc(at.getTime() / 1000)}`,
        'webhook-signature': new Webhook(secret).sign(eventId, at, body),
      };
      return (await fetch(`${service.url}${pathname}${search}`, { method: 'POST', headers, body })).status;
    };
    expect(await tell('forged', `whsec_${Buffer.alloc(32, 3).toString('base64')}`)).toBe(400);
    expect(await lastOf(id)).toMatchObject({ status: 'sent' });
    expect(await tell(`anew-${code}`, point.secret)).toBe(200);
    expect(await lastOf(id)).toMatchObject({ status: 'delivered', provider_id: providerId });
  });

  afterAll(async () => {
    await ok(client.delete('/integrations/point-2'));
    await ok(client.post('/integrations', connection()));
  });
});

describe('a secret that is no longer accepted', () => {
  test('it keeps a document in the queue, and the connection fails after three calls', async () => {
    const id = await ready('4000000000018');
    point.forgetSecret();
    await ok(send(id));
    for (const attempts of [1, 2, 3]) {
      await until(async () => (await lastOf(id)).attempts === attempts);
      if (attempts < 3) await tick(id);
    }
    expect(await lastOf(id)).toMatchObject({ status: 'queued', error: { code: 'credentials_refused' } });
    const { integration } = await ok(client.get('/integrations/point'));
    expect(integration.status).toBe('failing');
    await ok(client.delete('/integrations/point'));
    await tick(id);
    expect(await reaches(id, 'failed')).toMatchObject({ error: { code: 'no_access_point' } });
  });
});

describe('a sandbox', () => {
  test('its documents are sent by themselves where the entity wants that, and reach no account', async () => {
    const seller = await openSeller(service, '2026-03-01T10:00:00Z');
    const wrong = await seller.client.post('/integrations', connection());
    expect(wrong.body.error_details).toEqual({
      endpoint_url: ['value_must_be_blank'],
      shared_secret: ['value_must_be_blank'],
    });
    await ok(seller.client.post('/integrations', connection({ endpoint_url: null, shared_secret: null })));
    await seller.entity({ e_invoicing: { auto_send: true }, e_document_profile: 'en16931_ubl' });
    await seller.buyer('auto');
    await seller.hours('auto');
    const sent = await until(async () => {
      const [document] = await seller.documents('external_customer_id=auto&transmission_statuses[]=sent');
      return document;
    });
    expect(sent.transmissions[0].provider_id).toMatch(/^sandbox\./);
    await seller.entity({ e_invoicing: { auto_send: false } });
    await seller.buyer('quiet');
    await seller.hours('quiet');
    expect((await seller.document('quiet', 'ready')).transmissions).toEqual([]);
  });
});
