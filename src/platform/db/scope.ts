import type { Temporal } from 'temporal-polyfill';
import type { OrganizationId } from '../ids.ts';
import type { Db } from './connect.ts';

/**
 * Rows of one organization, and what reads them: a context fits. `Scope<Tx>` is one whose statements must be those of a
 * transaction.
 */
export interface Scope<On extends Db = Db> {
  readonly db: On;
  readonly organizationId: OrganizationId;
}

/** Where rows are written, and the present that they are stamped with. */
export interface WriteScope extends Scope {
  now(): Temporal.Instant;
}
