import { expect, test } from 'vitest';
import { recordsOf } from '../../../../src/areas/usage/connectors/records-of-source.ts';
import { ServiceTrouble } from '../../../../src/platform/streams/source.ts';
import { fullDisk } from './full-disk.ts';

const FILE = { bucket: 'b', key: 'k', etag: 'e', size: 1 };
const records = recordsOf(fullDisk(), { organizationId: '01890000-0000-7000-8000-000000000000', code: 'stream' }, 'me');

test.each<[string, () => Promise<unknown>]>([
  ['where reading goes on', () => records.checkpoints('')],
  ['forgetting a place', () => records.forget('k')],
  ['dropping a part', () => records.drop('k')],
  ['a lease', () => records.claim('k')],
  ['some leases', () => records.claimSome(['k'], 1)],
  ['giving a lease back', () => records.release('k')],
  ['who else reads', () => records.readers()],
  ['what became of files', () => records.objects.states('b', ['k'])],
  ['files that are left', () => records.objects.left('b', 1)],
  ['files that have ended', () => records.objects.ended('b', 1)],
  ['forgetting a file', () => records.objects.forget(FILE)],
  ['beginning a file', () => records.objects.begin(FILE)],
  ['an attempt at a file', () => records.objects.failAttempt(FILE)],
  ['ending a file', () => records.objects.end(FILE, 'k', false)],
  ['dropping a file', () => records.objects.drop(FILE, 'k')],
])('what the database refuses a source is trouble of the service: %s', async (_, ask) => {
  const failure = await ask().catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ServiceTrouble);
  expect((failure as ServiceTrouble).failure).toMatchObject({ code: '53100' });
});
