import { describe, expect, test } from 'vitest';
import { isSigned, portalUrl, readToken } from '../../../../src/areas/messaging/mails/portal-token.ts';
import { loadConfig } from '../../../../src/platform/config.ts';

const ID = '0190b1a2-3c4d-7e5f-8a6b-7c8d9e0f1a2b';
const OF = { customerId: ID, mayAct: true };
const configOf = (settings: Record<string, string> = {}) =>
  loadConfig({ DATABASE_URL: 'postgres://x', REDIS_URL: 'redis://x', ...settings });
const tokenOf = (url: string) => url.split('/').at(-1)!;
const tokenWith = (claims: unknown) =>
  `${Buffer.from(typeof claims === 'string' ? claims : JSON.stringify(claims)).toString('base64url')}.${'s'.repeat(43)}`;

describe('the address of a portal page', () => {
  test.each([
    [{}, 'http://127.0.0.1:3000/customer-portal/'],
    [{ HOST: '0.0.0.0', PORT: '8080' }, 'http://127.0.0.1:8080/customer-portal/'],
    [{ PUBLIC_URL: 'https://billing.example/' }, 'https://billing.example/customer-portal/'],
    [
      { PUBLIC_URL: 'https://billing.example', CUSTOMER_PORTAL_URL: 'https://my.example/account/' },
      'https://my.example/account/customer-portal/',
    ],
  ])('the portal address with %o begins with %s', (settings, start) => {
    expect(portalUrl(configOf(settings), 'secret', OF).startsWith(start)).toBe(true);
  });
});

describe('portal tokens', () => {
  test('a portal token is read back and is signed with its own secret only', () => {
    const read = readToken(tokenOf(portalUrl(configOf(), 'secret', OF)))!;
    expect(read).toMatchObject(OF);
    expect(isSigned(read, 'secret')).toBe(true);
    expect(isSigned(read, 'other')).toBe(false);
  });

  test('for reading says so, and cannot be made into another', () => {
    const url = portalUrl(configOf(), 'secret', { ...OF, mayAct: false });
    const read = readToken(tokenOf(url))!;
    expect(read.mayAct).toBe(false);
    const { scope: _scope, ...claims } = JSON.parse(Buffer.from(read.payload, 'base64url').toString());
    const payload = Buffer.from(JSON.stringify(claims)).toString('base64url');
    const widened = readToken(`${payload}.${read.signature}`)!;
    expect([widened.mayAct, isSigned(widened, 'secret')]).toEqual([true, false]);
  });

  const exp = 4_000_000_000;
  test.each([
    ['', 'it is empty'],
    ['a.b', 'too short'],
    [`${tokenWith({ sub: ID, exp, aud: 'portal' })}x`, 'too long'],
    [tokenWith('not json'), 'no JSON'],
    [tokenWith({ sub: ID, exp, aud: 'document' }), 'another audience'],
    [tokenWith({ sub: 'ada', exp, aud: 'portal' }), 'no id'],
    [tokenWith({ sub: ID, exp: '4000000000', aud: 'portal' }), 'an end that is no number'],
    [tokenWith({ sub: ID, aud: 'portal' }), 'no end'],
    [tokenWith({ sub: ID, exp: 1_700_000_000, aud: 'portal' }), 'an end in the past'],
    [tokenWith({ sub: ID, exp, aud: 'portal', scope: 'all' }), 'a scope that we do not give'],
    [tokenWith(null), 'its claims are null'],
  ])('the text "%s" is not a portal token: %s', (token) => {
    expect(readToken(token)).toBeUndefined();
  });
});
