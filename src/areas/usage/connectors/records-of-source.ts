import type { Db } from '../../../platform/db/connect.ts';
import { type ObjectLedger, ServiceTrouble, type SourceHost } from '../../../platform/streams/source.ts';
import { dropCheckpoint, listCheckpoints, resetCheckpoint } from './checkpoints.ts';
import type { Connector } from './dead-letters.ts';
import { claimLease, claimLeases, releaseLease } from './leases.ts';
import { objectLedger } from './objects.ts';
import { countReaders } from './readers.ts';

type Records = Pick<
  SourceHost,
  'checkpoints' | 'forget' | 'drop' | 'claim' | 'claimSome' | 'release' | 'readers' | 'objects'
>;

/**
 * What a source keeps in the database beside its events: places, leases, files. Whatever fails there is trouble of the
 * service, and not of the source.
 */
export function recordsOf(db: Db, connector: Connector, reader: string): Records {
  const records: Omit<Records, 'objects'> = {
    checkpoints: (prefix) => listCheckpoints(db, connector, prefix),
    forget: async (key) => void (await resetCheckpoint(db, connector, key)),
    drop: async (key) => void (await dropCheckpoint(db, connector, key)),
    claim: async (key) => (await claimLease(db, connector, key, reader)).length > 0,
    claimSome: async (keys, most) =>
      keys.length === 0 ? [] : (await claimLeases(db, connector, keys, most, reader)).map(({ key }) => key),
    release: async (key) => void (await releaseLease(db, connector, key, reader)),
    readers: async () => Math.max(1, (await countReaders(db, connector))[0]?.readers ?? 0),
  };
  return { ...owned(records), objects: owned<ObjectLedger>(objectLedger(db, connector)) };
}

type Calls = Record<string, (...input: never[]) => Promise<unknown>>;

/** The same calls, whose errors are the service's. */
const owned = <Of extends object>(calls: Of): Of =>
  Object.fromEntries(
    Object.entries(calls as Calls).map(([name, call]) => [
      name,
      async (...input: never[]) => {
        try {
          return await call(...input);
        } catch (error) {
          throw new ServiceTrouble(error);
        }
      },
    ]),
  ) as Of;
