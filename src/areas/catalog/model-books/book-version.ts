import type { Db, Fragment } from '../../../platform/db/connect.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import { type BookSettings, bookSettings } from './book-settings.ts';

/** The book of an organization as of one version. */
export interface BookVersion {
  organizationId: OrganizationId;
  /** Version of its own layer, and of the deployment's. */
  organization: number;
  deployment: number;
  settings: BookSettings;
}

/** As it is written beside a rated event: 0 where prices of the deployment do not count. */
export const versionText = ({ organization, deployment, settings }: BookVersion): string =>
  `${organization}.${settings.usesDeployment ? deployment : 0}`;

/** The same in a statement that reads the organization as `o` and the deployment's layer as `layer`. */
export const presentBook = (db: Db): Fragment => db`
  o.book_version || '.' || case when o.ai_settings -> 'use_deployment_prices' = 'false'
    or o.ai_settings ->> 'book_currency' <> 'USD' then 0 else layer.version end`;

export const bookVersion = (row: {
  id: OrganizationId;
  book_version: number;
  deployment_version: number;
  ai_settings: Record<string, unknown>;
}): BookVersion => ({
  organizationId: row.id,
  organization: row.book_version,
  deployment: row.deployment_version,
  settings: bookSettings(row.ai_settings),
});
