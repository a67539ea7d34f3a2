import { noteTenants } from '../../platform/cells/directory.ts';
import { schemaState } from '../../platform/db/migrate.ts';
import type { OrganizationId } from '../../platform/ids.ts';
import { StartRefused } from '../../platform/process/await-stores.ts';
import { demandSecretsKey } from '../../platform/secrets/check-secrets-at-start.ts';
import { getCell, onDirectory, onTables } from '../cells/on-directory.ts';
import type { Place } from './on-database.ts';

/**
 * Runs a command on the tables of a cell, with the settings of its service.
 *
 * @throws StartRefused while the cell is drained, when its tables may be copied, or lack migrations
 */
export const inCell = (name: string, work: (place: Place) => Promise<void>): Promise<void> =>
  onDirectory(async (directory) => {
    const cell = await getCell(directory, name);
    demandSecretsKey(directory.config);
    if (cell.state !== 'serving') throw new StartRefused(`the cell "${name}" is ${cell.state}, and was left as it is`);
    await onTables(directory.config, cell, async (sql, config) => {
      if ((await schemaState(sql)).state === 'behind')
        throw new StartRefused(
          `the cell "${name}" is not migrated, and nothing was changed: run "npm run cells -- migrate"`,
        );
      await work({
        sql,
        config,
        redisUrl: config.REDIS_URL || undefined,
        baseUrl: undefined,
        cell: { control: directory.control, name },
      });
    });
  });

/** Notes a new organization with its key, which callers may use at once. */
export const noteOrganization = (
  { control, name }: NonNullable<Place['cell']>,
  organizationId: OrganizationId,
  digest: Buffer,
): Promise<void> => noteTenants(control, name, [{ organizationId, digests: [digest] }]);
