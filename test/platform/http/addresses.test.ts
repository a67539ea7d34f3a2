import { expect, test } from 'vitest';
import {
  guardedLookup,
  isPublicAddress,
  RefusedAddress,
  type Resolve,
  resolvesToPrivate,
  targetOf,
} from '../../../src/platform/http/addresses.ts';

test.each([
  '127.0.0.1',
  '127.255.255.254',
  '10.1.2.3',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '100.64.0.1',
  '169.254.169.254',
  '0.0.0.0',
  '0.1.2.3',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '198.18.0.1',
  '192.0.2.1',
  '::',
  '::1',
  '::127.0.0.1',
  '::ffff:127.0.0.1',
  '::ffff:10.0.0.1',
  '::ffff:a9fe:a9fe',
  '64:ff9b::7f00:1',
  '64:ff9b:1::1',
  '2002:7f00:1::',
  '2001::1',
  '2001:db8::1',
  'fc00::1',
  'fd12:3456::1',
  'fe80::1',
  'fec0::1',
  'ff02::1',
  '4000::1',
  'not an address',
])('the address %s is not public', (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

test.each(['8.8.8.8', '1.1.1.1', '172.32.0.1', '192.167.1.1', '2606:4700:4700::1111', '::ffff:8.8.8.8'])(
  'the address %s is public',
  (address) => {
    expect(isPublicAddress(address)).toBe(true);
  },
);

test.each([
  'http://127.0.0.1/hook',
  'http://127.1/',
  'http://2130706433/',
  'http://0x7f.1/',
  'http://0x7f000001/',
  'http://017700000001/',
  'http://0177.0.0.1/',
  'http://0/',
  'http://127.0.0.1./',
  'http://①②⑦.0.0.1/',
  'http://127。0。0。1/',
  'http://[::1]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[::ffff:7f00:1]:8080/',
  'http://[0:0:0:0:0:0:0:1]/',
  'http://[fe80::1]/',
  'http://169.254.169.254/latest/meta-data',
  'http://localhost/',
  'http://localhost./',
  'http://LOCALHOST../',
  'http://foo.localhost/',
  'http://foo.localhost.:8080/',
  'http://metadata.google.internal/',
  'http://x.internal./',
  'http://printer.local/',
  'http://router.home.arpa/',
  'http://postgres/',
  'http://local\nhost/',
  'http://./',
  'http://user@example.com/',
  'http://user:secret@example.com/',
  'http://example.com:22/',
  'http://example.com:0/',
  'http://example.com:1023/',
  'ftp://example.com/',
  'file:///etc/passwd',
  'javascript:alert(1)',
  'https:example.com',
  'http:///example.com',
  'http://\\example.com',
  'example.com',
  '//example.com/',
  'http://',
  'http://a b/',
  'http://1.2.3.4.5/',
  'http://example.com:99999/',
  '',
  `http://example.com/${'x'.repeat(2048)}`,
])('the URL "%s" is refused', (url) => {
  expect(() => targetOf(url, { allowPrivate: false })).toThrow(RefusedAddress);
});

test.each([
  ['https://example.com', 'https://example.com', '/', 'example.com'],
  ['HTTPS://Example.COM/Hook?a=1#x', 'https://example.com', '/Hook?a=1', 'example.com'],
  ['http://example.com:8080/a', 'http://example.com:8080', '/a', 'example.com'],
  ['http://example.com:80/', 'http://example.com', '/', 'example.com'],
  ['https://example.com./a', 'https://example.com', '/a', 'example.com'],
  ['https://exam\r\nple.com/\ta', 'https://example.com', '/a', 'example.com'],
  ['https://localhost.example/', 'https://localhost.example', '/', 'localhost.example'],
  ['https://notinternal.example/', 'https://notinternal.example', '/', 'notinternal.example'],
  ['https://bücher.example/', 'https://xn--bcher-kva.example', '/', 'xn--bcher-kva.example'],
  ['http://[2606:4700::1111]:1024/', 'http://[2606:4700::1111]:1024', '/', '2606:4700::1111'],
])('the URL %j is accepted', (url, origin, path, hostname) => {
  expect(targetOf(url, { allowPrivate: false })).toMatchObject({ origin, path, hostname });
});

test('a URL is stored in normalized form and no longer than an index entry', () => {
  const hrefOf = (url: string) => targetOf(url, { allowPrivate: false }).href;
  expect(hrefOf('HTTPS://Exam\nple.COM.:443/\ta b?c=d#e')).toBe('https://example.com/a%20b?c=d#e');
  expect(hrefOf('https://example.com')).toBe('https://example.com/');
  expect(() => hrefOf(`https://example.com/${'é'.repeat(900)}`)).toThrow(RefusedAddress); // 5 400 bytes when escaped
});

test('private addresses are accepted when they are allowed, other ports and credentials never', () => {
  expect(targetOf('http://127.0.0.1:9000/x', { allowPrivate: true }).origin).toBe('http://127.0.0.1:9000');
  expect(() => targetOf('http://127.0.0.1:22/', { allowPrivate: true })).toThrow(RefusedAddress);
  expect(() => targetOf('http://me@127.0.0.1/', { allowPrivate: true })).toThrow(RefusedAddress);
});

const answering =
  (...addresses: string[]): Resolve =>
  (_hostname, _options, callback) =>
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
const failing: Resolve = (_hostname, _options, callback) =>
  callback(Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' }), []);

test('a host is private when any of its addresses is, and one that does not resolve is not', async () => {
  expect(await resolvesToPrivate('hooks.example', answering('8.8.8.8', '10.0.0.1'))).toBe(true);
  expect(await resolvesToPrivate('hooks.example', answering('8.8.8.8'))).toBe(false);
  expect(await resolvesToPrivate('hooks.example', failing)).toBe(false);
  expect(await resolvesToPrivate('localhost')).toBe(true);
  expect(await resolvesToPrivate('::1')).toBe(true);
});

test('the lookup of a socket returns checked addresses only', async () => {
  const lookup = (resolve: Resolve, all: boolean) =>
    new Promise((done) => guardedLookup(resolve)('hooks.example', { all }, (error, address) => done(error ?? address)));
  expect(await lookup(answering('8.8.8.8', '::1'), true)).toBeInstanceOf(RefusedAddress);
  expect(await lookup(answering('8.8.8.8'), false)).toBe('8.8.8.8');
  expect(await lookup(answering('8.8.8.8'), true)).toEqual([{ address: '8.8.8.8', family: 4 }]);
  expect(await lookup(failing, true)).toMatchObject({ code: 'ENOTFOUND' });
  expect(await lookup(answering(), true)).toBeInstanceOf(Error);
});
