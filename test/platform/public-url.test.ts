import { expect, test } from 'vitest';
import { whyLinksLeadNowhere } from '../../src/platform/public-url.ts';

test.each([
  ['0.0.0.0', undefined, /^PUBLIC_URL is missing: HOST=0\.0\.0\.0 is every address/],
  ['::', undefined, /^PUBLIC_URL is missing/],
  ['0.0.0.0', 'https://billing.example.com', undefined],
  ['127.0.0.1', undefined, undefined],
  ['10.0.0.7', undefined, undefined],
])('HOST=%s with PUBLIC_URL=%s', (HOST, PUBLIC_URL, expected) => {
  const why = whyLinksLeadNowhere({ HOST, PUBLIC_URL });
  if (expected === undefined) expect(why).toBeUndefined();
  else expect(why).toMatch(expected);
});
