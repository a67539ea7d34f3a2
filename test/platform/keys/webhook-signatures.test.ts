import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compactVerify, importPKCS8 } from 'jose';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { hmacSignature, jwtSignature, standardSignature } from '../../../src/platform/keys/webhook-signatures.ts';
import { projectRoot } from '../../../src/platform/project-root.ts';

// The worked example of webhooks.md#signatures.
const BODY =
  '{"webhook_type":"customer.created","object_type":"customer","organization_id":"1a901a90-1a90-1a90-1a90-1a901a901a90","customer":{"external_id":"c1"}}';
const ID = '2f1d9a70-0000-4000-8000-000000000001';
const SECRET = 'whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=';
const OTHER_SECRET = 'whsec_YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXphYmNkZWY=';

test('the hmac signature equals the worked example', () => {
  expect(hmacSignature('0f5c3b1e-7d7a-4c56-9d0f-2b4f6a8c1e21', BODY)).toBe(
    'gwhl9F9/w8+JHsx1SopVOKQIJSa/WKU3Iza11CI4dyY=',
  );
});

test('the Standard Webhooks signature equals the worked example', () => {
  expect(standardSignature([SECRET], { id: ID, timestamp: '1767225600', body: BODY })).toBe(
    'v1,oaXPsow9Mui5UllBRYZ7xIEsN017vkFqIQbYZ2G/Tf4=',
  );
});

test('receivers with the new and with the former secret both accept a message signed with both', () => {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = standardSignature([SECRET, OTHER_SECRET], { id: ID, timestamp, body: BODY });
  const headers = { 'webhook-id': ID, 'webhook-timestamp': timestamp, 'webhook-signature': signature };
  expect(new Webhook(SECRET).verify(BODY, headers)).toEqual(JSON.parse(BODY));
  expect(new Webhook(OTHER_SECRET).verify(BODY, headers)).toEqual(JSON.parse(BODY));
  expect(() => new Webhook(SECRET).verify(`${BODY} `, headers)).toThrow();
});

test('the jwt signature carries the body and the issuer only, and names its key', async () => {
  const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pem = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  const key = { kid: 'key-1', privateKey: await importPKCS8(pem, 'RS256') };
  const token = await jwtSignature(key, BODY, 'https://billing.example');
  const [header] = token.split('.');
  expect(Buffer.from(header!, 'base64url').toString()).toBe('{"alg":"RS256","kid":"key-1"}');
  const { payload } = await compactVerify(token, pair.publicKey);
  expect(JSON.parse(Buffer.from(payload).toString())).toEqual({ data: BODY, iss: 'https://billing.example' });
});

test('the receiver of the guide accepts what we sign, and nothing else', async () => {
  const page = readFileSync(join(projectRoot(), 'docs/guide/webhooks-and-feed.md'), 'utf8');
  const [, program] = /^cat > verify-webhook\.mjs <<'END'\n([\s\S]*?)^END$/m.exec(page)!;
  const { isHmac, isStandard, isJwt } = await import(`data:text/javascript,${encodeURIComponent(program!)}`);
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const signer = await importPKCS8(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), 'RS256');
  const timestamp = '1767225600';
  const headers = {
    'x-svc-signature': hmacSignature('key', BODY),
    'webhook-id': ID,
    'webhook-timestamp': timestamp,
    'webhook-signature': standardSignature([OTHER_SECRET, SECRET], { id: ID, timestamp, body: BODY }),
  };
  const token = { 'x-svc-signature': await jwtSignature({ kid: 'k', privateKey: signer }, BODY, 'https://api') };
  const published = Buffer.from(pem).toString('base64').replace(/.{60}/g, '$&\n');
  const now = Number(timestamp) + 10;
  expect([
    isHmac(BODY, headers, 'key'),
    isStandard(BODY, headers, SECRET, now),
    isJwt(BODY, token, `${published}\n`),
  ]).toEqual([true, true, true]);

  const changed = BODY.replace('c1', 'c2');
  expect([
    isHmac(changed, headers, 'key'),
    isHmac(BODY, headers, 'other'),
    isHmac(BODY, {}, 'key'),
    isStandard(changed, headers, SECRET, now),
    isStandard(BODY, headers, SECRET, now + 600),
    isJwt(changed, token, published),
  ]).toEqual([false, false, false, false, false, false]);
});
