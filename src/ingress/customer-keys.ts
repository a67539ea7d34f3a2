import type { Sql } from '../platform/db/connect.ts';
import type { Scope } from '../platform/db/scope.ts';
import type { CustomerId, OrganizationId } from '../platform/ids.ts';
import { isUuid } from '../platform/ids.ts';

/** Tables whose rows belong to one customer permanently. */
type Table =
  | 'invoices'
  | 'wallets'
  | 'wallet_transactions'
  | 'subscriptions'
  | 'credit_notes'
  | 'fees'
  | 'payments'
  | 'payment_requests'
  | 'payment_receipts';

/** A field of a command's input that names a customer, or one of its records. */
interface Naming {
  field: string;
  of: 'customer' | Table;
}

/** Fields that have the same meaning everywhere. */
const EVERYWHERE: readonly Naming[] = [
  { field: 'external_customer_id', of: 'customer' },
  { field: 'invoice_id', of: 'invoices' },
  { field: 'wallet_id', of: 'wallets' },
];

/** The record that the id of a path names, by the path's first segment. */
const BY_SEGMENT: Readonly<Record<string, Naming>> = {
  customers: { field: 'external_id', of: 'customer' },
  subscriptions: { field: 'external_id', of: 'subscriptions' },
  invoices: { field: 'svc_id', of: 'invoices' },
  wallets: { field: 'svc_id', of: 'wallets' },
  wallet_transactions: { field: 'svc_id', of: 'wallet_transactions' },
  credit_notes: { field: 'svc_id', of: 'credit_notes' },
  fees: { field: 'svc_id', of: 'fees' },
  payments: { field: 'svc_id', of: 'payments' },
  payment_requests: { field: 'svc_id', of: 'payment_requests' },
  payment_receipts: { field: 'svc_id', of: 'payment_receipts' },
};

/** Parameters of the path, and fields of the body. */
type CommandInput = { body?: unknown } & Record<string, unknown>;

/** For how many records a process caches the customer: about 10 MB. */
const MOST_KNOWN = 50_000;
/** How many look-ups run at the same time: they must not take more of the connections that answer reads. */
const MOST_LOOK_UPS = 2;

/**
 * Names the customer whose rows a command locks, so that no more than two of them run at the same time (`customer_key`
 * of a job). A record whose customer is not cached stands for itself, and its customer is looked up in the background
 * for the next time: commands on one record wait for each other anyway, and none waits for a look-up.
 */
export function createCustomerKeys(sql: Sql) {
  const known = new Map<string, string>();
  let lookUps = 0;

  function remember(name: string, key: string): void {
    if (known.size >= MOST_KNOWN) known.delete(known.keys().next().value!);
    known.set(name, key);
  }

  async function lookUp(name: string, organizationId: OrganizationId, table: Table, id: string): Promise<void> {
    lookUps += 1;
    try {
      const externalId = await findCustomer({ db: sql, organizationId }, table, id);
      if (externalId !== undefined) remember(name, keyOfCustomer(externalId));
    } catch {
      // The record keeps standing for itself.
    } finally {
      lookUps -= 1;
    }
  }

  return {
    /**
     * Key of the customer that the input of a command at `path` names, or of the named record while its customer is
     * not cached; undefined if the input names neither.
     */
    keyOf(path: string, organizationId: OrganizationId, input: unknown): string | undefined {
      const { body, ...params } = input as CommandInput;
      const fields: Record<string, unknown> = { ...(body ?? {}), ...params };
      const naming = [...EVERYWHERE, BY_SEGMENT[path.split('/')[1]!]].find((each) => each && fields[each.field]);
      const id = naming && fields[naming.field];
      if (!naming || typeof id !== 'string') return undefined;
      if (naming.of === 'customer') return keyOfCustomer(id);
      if (naming.of !== 'subscriptions' && !isUuid(id)) return undefined;
      const name = `${organizationId}/${naming.of}/${id}`;
      const key = known.get(name);
      if (key !== undefined) return key;
      if (lookUps < MOST_LOOK_UPS) void lookUp(name, organizationId, naming.of, id);
      return `${naming.of}/${id}`;
    },
  };
}

export type CustomerKeys = ReturnType<typeof createCustomerKeys>;

const keyOfCustomer = (externalId: string): string => `customer/${externalId}`;

async function findCustomer(
  { db: sql, organizationId }: Scope<Sql>,
  table: Table,
  id: CustomerId,
): Promise<string | undefined> {
  const ofRecord = table === 'subscriptions' ? sql`record.external_id = ${id}` : sql`record.id = ${id}`;
  const [row] = await sql<{ external_id: string }[]>`
    select customer.external_id
    from ${sql(table)} record
    join customers customer on customer.organization_id = record.organization_id and customer.id = record.customer_id
    where record.organization_id = ${organizationId} and ${ofRecord}
    order by record.id desc
    limit 1`;
  return row?.external_id;
}
