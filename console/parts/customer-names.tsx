import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { searchOf, to } from '../frame/route.ts';
import { can } from '../frame/session.ts';
import { useRead } from '../frame/use-read.ts';

type Names = ReadonlyMap<string, string>;

/** Names of the customers whom the rows of a list belong to, by external id. */
export const CustomerNames = createContext<Names>(new Map());

/** As many as the API names at once. */
const MOST_NAMED = 100;

/** What customers are called; the list stands before that with their ids. A key that cannot read customers sees ids. */
export function useCustomerNames(ids: readonly (string | null | undefined)[]): Names {
  const asked = [...new Set(ids.filter((id): id is string => typeof id === 'string'))].sort().slice(0, MOST_NAMED);
  const { data } = useRead<{ customer_names: { external_id: string; name: string }[] }>(
    asked.length > 0 && can('customer') ? `/customer_names${searchOf({ external_ids: asked })}` : null,
  );
  return new Map(data?.customer_names.map(({ external_id, name }) => [external_id, name]));
}

/** Leads to a customer under the name that the list has read, else under its id. */
export function CustomerLink({ id, tab }: { id: string; tab?: string }) {
  const name = useContext(CustomerNames).get(id);
  return (
    <a href={tab === undefined ? to('customers', id) : to('customers', id, tab)} title={name === undefined ? '' : id}>
      {name ?? id}
    </a>
  );
}

/** The same where a page shows one customer. */
export function NamedCustomer({ id }: { id: string }) {
  return (
    <CustomerNames.Provider value={useCustomerNames([id])}>
      <CustomerLink id={id} />
    </CustomerNames.Provider>
  );
}
