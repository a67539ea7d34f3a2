import { generateKeyPairSync, sign } from 'node:crypto';
import { type AddressInfo, connect } from 'node:net';
import { createServer } from 'node:tls';

/** A value of DER: its tag, its length in as many bytes as it takes, its content. */
function der(tag: number, ...contents: Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const length: number[] = [];
  for (let rest = content.length; rest > 0; rest >>>= 8) length.unshift(rest & 0xff);
  const head = content.length < 0x80 ? [content.length] : [0x80 | length.length, ...length];
  return Buffer.concat([Buffer.from([tag, ...head]), content]);
}

const [INTEGER, BIT_STRING, OCTET_STRING, OBJECT, UTC_TIME, SEQUENCE] = [0x02, 0x03, 0x04, 0x06, 0x17, 0x30] as const;
/** Tags of their own places: the version and the extensions of a certificate, and a DNS name in one. */
const [VERSION, EXTENSIONS, DNS_NAME] = [0xa0, 0xa3, 0x82] as const;
const SUBJECT_ALTERNATIVE_NAME = Buffer.from('551d11', 'hex');

export interface Certificate {
  key: string;
  cert: string;
}

/** A certificate that anybody could have made, and its key; for a host of this name, or of nobody. */
export function selfSigned(host?: string): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const ecdsaWithSha256 = der(SEQUENCE, der(OBJECT, Buffer.from('2a8648ce3d040302', 'hex')));
  const nobody = der(SEQUENCE);
  const validity = der(
    SEQUENCE,
    der(UTC_TIME, Buffer.from('200101000000Z')),
    der(UTC_TIME, Buffer.from('491231235959Z')),
  );
  const names = der(SEQUENCE, der(DNS_NAME, Buffer.from(host ?? '')));
  const extension = der(SEQUENCE, der(OBJECT, SUBJECT_ALTERNATIVE_NAME), der(OCTET_STRING, names));
  const content = der(
    SEQUENCE,
    ...(host === undefined ? [] : [der(VERSION, der(INTEGER, Buffer.from([2])))]),
    der(INTEGER, Buffer.from([1])),
    ecdsaWithSha256,
    nobody,
    validity,
    nobody,
    publicKey.export({ type: 'spki', format: 'der' }),
    ...(host === undefined ? [] : [der(EXTENSIONS, der(SEQUENCE, extension))]),
  );
  const signature = der(BIT_STRING, Buffer.from([0]), sign('sha256', content, privateKey));
  const lines = der(SEQUENCE, content, ecdsaWithSha256, signature).toString('base64').replace(/.{64}/g, '$&\n');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
  };
}

/** A server that speaks TLS with a certificate of its own, and hands on to a plain one of this machine. */
export async function tlsFront(plainUrl: string): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer(selfSigned(), (socket) => {
    const behind = connect(Number(new URL(plainUrl).port), '127.0.0.1');
    // Either end may break the line, which ends the other one.
    socket.on('error', () => behind.destroy()).pipe(behind);
    behind.on('error', () => socket.destroy()).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
