import { assert } from '../../../engine/assert.ts';
import type { Scope } from '../../../platform/db/scope.ts';

/** How many free numbers are made together. */
const MADE_AT_ONCE = 128;
/**
 * Below this many free numbers more are made. It is the number of transactions that may create customers of one
 * organization at the same time, so that none waits for new numbers.
 */
const ENOUGH = 64;
// Namespace of the advisory locks of transactions that make numbers; that of clocks is 5306, that of events in
// usage-shapes/shape-locks.ts.
const MAKING_SEED = 5396;

/**
 * Takes the lowest customer number of the organization that no other transaction is taking, with the prefix of its
 * slugs. A rollback gives it back, and no other transaction waits. Rule: customers.md#fields `sequential_id`.
 */
export async function takeNumber(scope: Scope): Promise<{ number: number; prefix: string }> {
  let taken = await takeFree(scope);
  if (taken.number === null) {
    await scope.db`select pg_advisory_xact_lock(hashtextextended(${scope.organizationId}, ${MAKING_SEED}))`;
    taken = await takeFree(scope); // a statement of its own, so that it sees numbers made meanwhile
  }
  if (taken.free < ENOUGH) await makeNumbers(scope);
  if (taken.number === null) taken = await takeFree(scope);
  const { number, prefix } = taken;
  assert(number !== null, 'numbers have just been made');
  return { number, prefix };
}

async function takeFree({ db, organizationId }: Scope) {
  const [row] = await db<{ number: number | null; prefix: string; free: number }[]>`
    with taken as (
      delete from customer_numbers
      where organization_id = ${organizationId} and number = (
        select number from customer_numbers where organization_id = ${organizationId}
        order by number limit 1
        for update skip locked)
      returning number
    )
    select (select number from taken) as number, document_number_prefix as prefix,
      (select count(*) from (
        select from customer_numbers where organization_id = ${organizationId} limit ${ENOUGH}) free) as free
    from organizations where id = ${organizationId}`;
  assert(row, 'the organization of a key exists');
  return row;
}

/** Skipped while another transaction makes some. */
const makeNumbers = ({ db, organizationId }: Scope) => db`
  with counted as (
    update organizations set customers_count = customers_count + ${MADE_AT_ONCE}
    where id = ${organizationId} and pg_try_advisory_xact_lock(hashtextextended(${organizationId}, ${MAKING_SEED}))
    returning customers_count
  ), stored as (
    insert into customer_numbers (organization_id, number)
    select ${organizationId}::uuid, number
    from counted, generate_series(customers_count - ${MADE_AT_ONCE} + 1, customers_count) number
    returning true
  )
  select count(*) from stored`;

/** Gives back a number that takeNumber took in the same transaction. */
export const returnNumber = ({ db, organizationId }: Scope, number: number) => db`
  insert into customer_numbers (organization_id, number) values (${organizationId}, ${number})`;
