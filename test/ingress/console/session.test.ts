import { Temporal } from 'temporal-polyfill';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { csrfTokenOf } from '../../../src/areas/tenancy/console-sessions/csrf-token.ts';
import { makeOneTimeLink } from '../../../src/areas/tenancy/console-sessions/one-time-links.ts';
import { cookieHeader, tokenIn } from '../../../src/ingress/console/cookie.ts';
import { startIngress } from '../../../src/ingress/start-ingress.ts';
import { cleanSessions } from '../../../src/jobs/sweep-rows/clean-sessions.ts';
import { operations } from '../../../src/operations.ts';
import type { SweepDeps } from '../../../src/platform/periodic-job.ts';
import { startService, type TestService } from '../../support/service.ts';

const OPERATOR_TOKEN = 'the operator of the tests, 32 chars';
const SETTINGS = { OPERATOR_TOKEN, RATE_LIMIT_CONSOLE: '1000' };

let service: TestService;
beforeAll(async () => {
  service = await startService({ pools: ['writes', 'events'], settings: SETTINGS });
});
afterAll(() => service.stop());

interface Sent {
  method?: string;
  headers?: Record<string, string>;
  body?: unknown;
  url?: string;
}

async function call(path: string, { method = 'GET', headers = {}, body, url = service.url }: Sent = {}) {
  const answer = await request(url + path, {
    method: method as 'GET',
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.body.text();
  return { status: answer.statusCode, body: JSON.parse(text), headers: answer.headers };
}

const cookieOf = (answer: Awaited<ReturnType<typeof call>>) => String(answer.headers['set-cookie']).split(';')[0]!;

/** A browser that is signed in, with the headers that its page sends. */
async function signIn(session: object, headers: Record<string, string> = {}) {
  const answer = await call('/console/session', { method: 'POST', body: { session }, headers });
  expect(answer.status).toBe(200);
  const page = { cookie: cookieOf(answer), 'x-console-token': String(answer.body.session.csrf_token) };
  return {
    answer,
    page,
    of: (organizationId: string) => ({ ...page, 'x-console-organization': organizationId }),
  };
}

test('the token of a session is the HMAC of its id under its own key (CO20)', () => {
  const csrf_key = Uint8Array.from({ length: 32 }, (_, index) => index);
  const token = csrfTokenOf({ id: '0198f0c0-0000-7000-8000-000000000001', csrf_key });
  expect(token).toBe('XxXVUgbQ8SrLsjaOtWOO4RT_4NedxIjGnyq_yjta8NE');
});

test('the cookie belongs to this host alone where the service is reached over https', () => {
  const secure = { PUBLIC_URL: 'https://billing.example.com' };
  expect(cookieHeader('t', 60, secure)).toBe(
    '__Host-meterstone=t; Path=/; Max-Age=60; HttpOnly; SameSite=Strict; Secure',
  );
  expect(cookieHeader('t', 60, { PUBLIC_URL: undefined })).toBe(
    'meterstone=t; Path=/; Max-Age=60; HttpOnly; SameSite=Strict',
  );
  expect(tokenIn({ cookie: 'a=1; meterstone=t' }, { PUBLIC_URL: undefined })).toBe('t');
  expect(tokenIn({ cookie: 'meterstone=t; meterstone=u' }, { PUBLIC_URL: undefined })).toBeUndefined();
  expect(tokenIn({ cookie: 'meterstone=t' }, secure)).toBeUndefined();
});

describe('signing in', () => {
  test('a key opens a session that shows its organization and what the key may do', async () => {
    const org = await service.org({ sandbox: true, name: 'Sand' });
    const { answer, page } = await signIn({ api_key: org.organization.api_key });
    expect(answer.headers['set-cookie']).toMatch(/^meterstone=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=S/);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.headers['x-console-organization']).toBe(org.organization.organization_id);
    const shown = await call('/console/session', { headers: { cookie: page.cookie } });
    expect(shown.body).toEqual(answer.body);
    expect(shown.body.session).toMatchObject({
      operator: false,
      organizations: [
        {
          svc_id: org.organization.organization_id,
          name: 'Sand',
          sandbox: true,
          has_test_clock: false,
          signed_in_as: { kind: 'key', name: null, last4: org.organization.api_key.slice(-4), email: null },
          permissions: { customer: ['read', 'write'] },
        },
      ],
    });
    const until = encodeURIComponent(Temporal.Now.instant().add({ hours: 1 }).toString());
    const { body } = await org.get(`/security_logs?to_date=${until}`);
    expect(body.security_logs[0]).toMatchObject({
      log_event: 'user.new_device_logged_in',
      resources: { last4: org.organization.api_key.slice(-4) },
    });
  });

  test.each<[string, Record<string, string>, number]>([
    ['no Content-Type', {}, 415],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }, 415],
    ['plain text', { 'content-type': 'text/plain' }, 415],
    ['a type that only begins like JSON', { 'content-type': 'application/jsonp' }, 415],
  ])('a sign-in with %s is refused, because another site could send it (CO21)', async (_name, headers, status) => {
    const org = await service.org();
    const answer = await request(`${service.url}/console/session`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ session: { api_key: org.organization.api_key } }),
    });
    await answer.body.dump();
    expect([answer.statusCode, answer.headers['set-cookie']]).toEqual([status, undefined]);
  });

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['a text', { session: 'key' }],
    ['an empty key', { session: { api_key: '' } }],
    ['two credentials', { session: { api_key: 'a', code: 'b' } }],
    ['a key that is a list', { session: { api_key: ['a'] } }],
    ['a key of 300 characters', { session: { api_key: 'a'.repeat(300) } }],
  ])('a sign-in with %s is refused with the field that is missing', async (_name, body) => {
    const answer = await call('/console/session', {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
    });
    expect([answer.status, answer.body.error_details]).toEqual([422, { api_key: ['value_is_mandatory'] }]);
  });

  test('a body beyond 4 KB is not read', async () => {
    const answer = await call('/console/session', { method: 'POST', body: { session: { api_key: 'a'.repeat(5000) } } });
    expect(answer.status).toBe(413);
  });

  test('a second key joins the session under a new token, and the former cookie is worth nothing', async () => {
    const [one, two] = [await service.org({ name: 'One' }), await service.org({ name: 'Two' })];
    const first = await signIn({ api_key: one.organization.api_key });
    const second = await signIn({ api_key: two.organization.api_key }, first.page);
    expect(second.answer.body.session.organizations.map(({ name }: { name: string }) => name)).toEqual(['One', 'Two']);
    expect(second.page['x-console-token']).toBe(first.page['x-console-token']);
    expect((await call('/console/session', { headers: { cookie: first.page.cookie } })).status).toBe(401);
    const id = one.organization.organization_id;
    expect((await call('/api/v1/organizations', { headers: first.of(id) })).status).toBe(401);
    expect((await call('/api/v1/organizations', { headers: second.of(id) })).status).toBe(200);
  });

  test('a cookie that somebody else has set becomes nobody else’s session', async () => {
    const org = await service.org();
    const planted = 'meterstone=0123456789012345678901234567890123456789012';
    const { page } = await signIn({ api_key: org.organization.api_key }, { cookie: planted });
    expect(page.cookie).not.toBe(planted);
    expect((await call('/console/session', { headers: { cookie: planted } })).status).toBe(401);
    const other = await service.org();
    // The cookie of a living session without its page's token: the sign-in does not join it.
    const joined = await signIn({ api_key: other.organization.api_key }, { cookie: page.cookie });
    expect(joined.answer.body.session.organizations).toHaveLength(1);
  });

  test('a session holds at most 8 organizations, and takes the same one again', async () => {
    const orgs = await Promise.all(Array.from({ length: 9 }, () => service.org()));
    let last = await signIn({ api_key: orgs[0]!.organization.api_key });
    for (const org of orgs.slice(1, 8)) last = await signIn({ api_key: org.organization.api_key }, last.page);
    const ninth = { session: { api_key: orgs[8]!.organization.api_key } };
    const refused = await call('/console/session', { method: 'POST', body: ninth, headers: last.page });
    expect([refused.status, refused.body.error_details]).toEqual([422, { api_key: ['too_many_identities'] }]);
    const again = await signIn({ api_key: orgs[3]!.organization.api_key }, last.page);
    expect(again.answer.body.session.organizations).toHaveLength(8);
  });

  test('a one-time link signs in once, also when two browsers open it together', async () => {
    const org = await service.org({ name: 'Linked' });
    const now = Temporal.Now.instant();
    const { path } = await makeOneTimeLink(service.sql, { organization: 'Linked' }, now);
    const code = /^\/console#enter=([\w-]{43})$/.exec(path)![1]!;
    const body = { session: { code } };
    const answers = await Promise.all([1, 2].map(() => call('/console/session', { method: 'POST', body })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401]);
    const entered = answers.find(({ status }) => status === 200)!;
    expect(entered.body.session.organizations[0].svc_id).toBe(org.organization.organization_id);
    const late = await makeOneTimeLink(service.sql, { organization: 'Linked' }, now.subtract({ minutes: 11 }));
    const expired = { session: { code: late.path.split('=')[1] } };
    expect((await call('/console/session', { method: 'POST', body: expired })).status).toBe(401);
    const unknown = makeOneTimeLink(service.sql, { organization: 'Nobody' }, now);
    await expect(unknown).rejects.toMatchObject({ body: { resource: 'organization' } });
  });

  test('ten failures of an address refuse it for a quarter of an hour, with the right key too', async () => {
    const guarded = await startIngress({ ...service.config, REDIS_PREFIX: `${service.config.REDIS_PREFIX}-f` }, []);
    try {
      const org = await service.org();
      const attempt = (api_key: string) =>
        call('/console/session', { method: 'POST', body: { session: { api_key } }, url: guarded.url });
      for (let count = 0; count < 5; count += 1)
        expect((await attempt(org.organization.api_key)).status, 'successes do not count').toBe(200);
      const statuses = await Promise.all(Array.from({ length: 14 }, () => attempt('wrong').then((a) => a.status)));
      expect(statuses.sort()).toEqual([...Array(10).fill(401), ...Array(4).fill(429)]);
      const refused = await attempt(org.organization.api_key);
      expect(refused.status).toBe(429);
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(800);
    } finally {
      await guarded.close();
    }
  });
});

describe('a request of a session', () => {
  test('it is let in by cookie, token and organization together, and by nothing less (CO21)', async () => {
    const [org, other] = [await service.org(), await service.org()];
    const id = org.organization.organization_id;
    const mine = await signIn({ api_key: org.organization.api_key });
    const theirs = await signIn({ api_key: other.organization.api_key });
    const body = { customer: { external_id: 'ada' } };
    const post = async (headers: Record<string, string>) =>
      (await call('/api/v1/customers', { method: 'POST', body, headers })).status;
    const { cookie } = mine.page;
    expect(await post({ cookie, 'x-console-organization': id })).toBe(401);
    expect(await post({ ...theirs.of(id), cookie })).toBe(401);
    expect(await post({ ...mine.of(id), cookie: `${cookie}; ${theirs.page.cookie}` })).toBe(401);
    expect(await post(mine.of(other.organization.organization_id))).toBe(401);
    expect(await post(mine.of('not-an-id'))).toBe(401);
    expect(await post({ ...mine.of(id), 'x-console-token': '' })).toBe(401);
    expect(await post(mine.page)).toBe(401);
    expect(await post({ 'x-console-token': mine.page['x-console-token'], 'x-console-organization': id })).toBe(401);
    expect((await org.get('/customers')).body.customers).toEqual([]);
    expect(await post(mine.of(id))).toBe(200);
    expect((await org.get('/customers')).body.customers).toHaveLength(1);
  });

  test('with an Authorization header the cookie is not looked at (CO21)', async () => {
    const [a, b] = [await service.org({ name: 'A' }), await service.org({ name: 'B' })];
    const session = await signIn({ api_key: a.organization.api_key });
    const headers = session.of(a.organization.organization_id);
    const asB = { ...headers, authorization: `Bearer ${b.organization.api_key}` };
    const organization = async (sent: Record<string, string>) =>
      (await call('/api/v1/organizations', { headers: sent })).body.organization?.name;
    expect(await organization(headers)).toBe('A');
    expect(await organization(asB)).toBe('B');
    const wrong = { ...headers, authorization: 'Bearer wrong' };
    expect((await call('/api/v1/organizations', { headers: wrong })).status).toBe(401);
  });

  test('what it does is written down as done in the console, by its key', async () => {
    const org = await service.org();
    const session = await signIn({ api_key: org.organization.api_key });
    const headers = session.of(org.organization.organization_id);
    await call('/api/v1/customers', { method: 'POST', body: { customer: { external_id: 'ada' } }, headers });
    const logs = await org.get('/activity_logs');
    expect(logs.body.activity_logs[0]).toMatchObject({
      activity_type: 'customer.created',
      activity_source: 'front',
      user_email: null,
    });
  });

  test('a deleted key ends its identity in every process at once, and no other one (CO22)', async () => {
    const [org, other] = [await service.org(), await service.org()];
    const made = await org.post('/api_keys', { api_key: { name: 'Console' } });
    const first = await signIn({ api_key: made.body.api_key.value });
    const session = await signIn({ api_key: other.organization.api_key }, first.page);
    const second = await startIngress(service.config, operations);
    try {
      const status = async (id: string) =>
        (await call('/api/v1/customers', { headers: session.of(id), url: second.url })).status;
      const [id, otherId] = [org.organization.organization_id, other.organization.organization_id];
      expect([await status(id), await status(otherId)]).toEqual([200, 200]);
      await org.delete(`/api_keys/${made.body.api_key.svc_id}`);
      expect([await status(id), await status(otherId)]).toEqual([401, 200]);
      const shown = await call('/console/session', { headers: { cookie: session.page.cookie }, url: second.url });
      expect(shown.body.session.organizations).toHaveLength(1);
    } finally {
      await second.close();
    }
  });

  test('it has the permissions that its key has now (CO23)', async () => {
    const org = await service.org();
    const made = await org.post('/api_keys', { api_key: { permissions: { customer: ['read'] } } });
    const session = await signIn({ api_key: made.body.api_key.value });
    const headers = session.of(org.organization.organization_id);
    const body = { customer: { external_id: 'ada' } };
    expect((await call('/api/v1/customers', { headers })).status).toBe(200);
    const refused = await call('/api/v1/customers', { method: 'POST', body, headers });
    expect([refused.status, refused.body.code]).toEqual([403, 'write_action_not_allowed_for_customer']);
    await org.put(`/api_keys/${made.body.api_key.svc_id}`, { api_key: { permissions: { plan: ['read'] } } });
    const later = await call('/api/v1/customers', { headers });
    expect([later.status, later.body.code]).toEqual([403, 'read_action_not_allowed_for_customer']);
  });

  test('it ends 12 hours after the sign-in, 2 hours after the last request, and when it is ended', async () => {
    const org = await service.org();
    const session = await signIn({ api_key: org.organization.api_key });
    const headers = session.of(org.organization.organization_id);
    const status = async () => (await call('/api/v1/organizations', { headers })).status;
    const shift = (column: string, interval: string) => service.sql`
      update console_sessions set ${service.sql(column)} = now() - ${interval}::interval`;
    await shift('last_seen_at', '119 minutes');
    expect(await status()).toBe(200);
    const [row] = await service.sql`select last_seen_at > now() - interval '1 minute' as seen from console_sessions
      order by created_at desc limit 1`;
    expect(row!.seen).toBe(true);
    await shift('last_seen_at', '121 minutes');
    expect(await status()).toBe(401);
    await shift('last_seen_at', '0');
    expect(await status()).toBe(200);
    await shift('expires_at', '1 second');
    expect(await status()).toBe(401);
    await service.sql`update console_sessions set expires_at = now() + interval '1 hour'`;
    expect((await call('/console/session', { method: 'DELETE', headers: { cookie: headers.cookie } })).status).toBe(
      401,
    );
    const ended = await call('/console/session', { method: 'DELETE', headers });
    expect([ended.status, ended.headers['set-cookie']]).toEqual([
      200,
      'meterstone=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict',
    ]);
    expect(await status()).toBe(401);
  });

  test('its requests have windows of their own, and events count as events', async () => {
    const limited = await startIngress(
      {
        ...service.config,
        REDIS_PREFIX: `${service.config.REDIS_PREFIX}-r`,
        RATE_LIMIT_CONSOLE: 7,
        RATE_LIMIT_EVENTS: 40,
      },
      operations,
    );
    try {
      const org = await service.org();
      const session = await signIn({ api_key: org.organization.api_key });
      const headers = session.of(org.organization.organization_id);
      const read = await call('/api/v1/customers', { headers, url: limited.url });
      expect(read.headers['x-ratelimit-limit']).toBe('7');
      // Refused for its body, so that no worker is waited for.
      const event = await call('/api/v1/events', { method: 'POST', body: {}, headers, url: limited.url });
      expect(event.headers['x-ratelimit-limit']).toBe('40');
      const statuses = await Promise.all(
        Array.from({ length: 30 }, () =>
          call('/api/v1/customers', { headers, url: limited.url }).then((a) => a.status),
        ),
      );
      expect(statuses).toContain(429);
      const key = { authorization: `Bearer ${org.organization.api_key}` };
      expect((await call('/api/v1/customers', { headers: key, url: limited.url })).status).toBe(200);
    } finally {
      await limited.close();
    }
  });

  test('it speaks the prefix svc whatever the prefix of the deployment', async () => {
    const other = await startIngress({ ...service.config, WIRE_PREFIX: 'lago' }, operations);
    try {
      const org = await service.org();
      const session = await signIn({ api_key: org.organization.api_key });
      const headers = session.of(org.organization.organization_id);
      const read = await call('/api/v1/organizations', { headers, url: other.url });
      expect(read.body.organization.svc_id).toBe(org.organization.organization_id);
    } finally {
      await other.close();
    }
  });
});

describe('the operator', () => {
  test('the token opens the routes of operations and no record of any organization', async () => {
    const org = await service.org();
    const session = await signIn({ operator_token: OPERATOR_TOKEN });
    expect(session.answer.body.session).toMatchObject({ operator: true, organizations: [] });
    const jobs = (headers: Record<string, string>, url = service.url) =>
      call('/api/v1/operations/jobs', { headers, url }).then(({ status }) => status);
    expect(await jobs(session.of('operator'))).toBe(200);
    expect(await jobs(session.page)).toBe(401);
    expect(await jobs({ ...session.of('operator'), 'x-console-token': 'x' })).toBe(401);
    const customers = { headers: session.of(org.organization.organization_id) };
    expect((await call('/api/v1/customers', customers)).status).toBe(401);
    expect((await call('/api/v1/customers', { headers: session.of('operator') })).status).toBe(401);
    const keyed = await signIn({ api_key: org.organization.api_key });
    expect(await jobs(keyed.of('operator'))).toBe(401);
    const changed = await startIngress({ ...service.config, OPERATOR_TOKEN: `${OPERATOR_TOKEN}!` }, operations);
    try {
      expect(await jobs(session.of('operator'), changed.url), 'another token of the settings').toBe(401);
    } finally {
      await changed.close();
    }
    const wrong = { session: { operator_token: 'no' } };
    expect((await call('/console/session', { method: 'POST', body: wrong })).status).toBe(401);
  });
});

describe('the sessions of an organization', () => {
  test('they are listed, and one taken out keeps its other organizations', async () => {
    const [org, other] = [await service.org(), await service.org()];
    const first = await signIn({ api_key: org.organization.api_key }, { 'user-agent': 'Firefox' });
    const session = await signIn({ api_key: other.organization.api_key }, first.page);
    const listed = await org.get('/console_sessions');
    expect(listed.body.meta.total_count).toBe(1);
    expect(listed.body.console_sessions[0]).toMatchObject({
      kind: 'key',
      api_key_last4: org.organization.api_key.slice(-4),
      user_email: null,
      user_agent: 'Firefox',
    });
    const id = listed.body.console_sessions[0].svc_id;
    const third = await service.org();
    expect((await third.delete(`/console_sessions/${id}`)).status).toBe(404);
    expect((await org.delete(`/console_sessions/${id}`)).status).toBe(200);
    const status = async (organizationId: string) =>
      (await call('/api/v1/organizations', { headers: session.of(organizationId) })).status;
    expect(await status(org.organization.organization_id)).toBe(401);
    expect(await status(other.organization.organization_id)).toBe(200);
    expect((await org.delete(`/console_sessions/${id}`)).status).toBe(404);
    const left = await call(`/console/session/organizations/${other.organization.organization_id}`, {
      method: 'DELETE',
      headers: session.page,
    });
    expect(left.body.session.organizations).toEqual([]);
    expect((await call('/console/session', { headers: session.page })).status).toBe(401);
  });

  test('an organization has 100 sessions, and a new one drops the oldest', async () => {
    const org = await service.org();
    const oldest = await signIn({ api_key: org.organization.api_key });
    for (let count = 0; count < 100; count += 1) await signIn({ api_key: org.organization.api_key });
    expect((await org.get('/console_sessions?per_page=1')).body.meta.total_count).toBe(100);
    expect((await call('/console/session', { headers: oldest.page })).status).toBe(401);
  });

  test('sessions and links are forgotten 30 days after they ended', async () => {
    const org = await service.org();
    const kept = await signIn({ api_key: org.organization.api_key });
    await signIn({ api_key: org.organization.api_key });
    await makeOneTimeLink(
      service.sql,
      { organization: org.organization.organization_id },
      Temporal.Now.instant().subtract({ hours: 24 * 31 }),
    );
    await service.sql`
      update console_sessions set ended_at = now() - interval '31 days'
      where id = (select session_id from console_identities
        where organization_id = ${org.organization.organization_id} order by created_at desc limit 1)`;
    await cleanSessions.sweep({ sql: service.sql } as SweepDeps, Temporal.Now.instant());
    const [left] = await service.sql`
      select (select count(*) from console_identities
        where organization_id = ${org.organization.organization_id}) as identities,
        (select count(*) from console_codes where expires_at < now() - interval '30 days') as codes`;
    expect(left).toEqual({ identities: 1, codes: 0 });
    expect((await call('/console/session', { headers: kept.page })).status).toBe(200);
  });
});
