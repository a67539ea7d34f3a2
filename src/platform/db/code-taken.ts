import type { Db } from './connect.ts';

/** Whether a live record of a table has a code, other than the record `exceptId`. */
export async function isCodeTaken(
  db: Db,
  table: 'add_ons' | 'taxes',
  organizationId: string,
  code: string,
  exceptId: string | null = null,
): Promise<boolean> {
  const [row] = await db<{ taken: boolean }[]>`
    select exists (
      select from ${db(table)} where organization_id = ${organizationId} and code = ${code} and deleted_at is null
        and id is distinct from ${exceptId}::uuid) as taken`;
  return row!.taken;
}
