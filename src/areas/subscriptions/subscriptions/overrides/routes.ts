import type { Operation } from '../../../../platform/operation.ts';
import {
  ChargeEnvelope,
  ChargeFilterCreate,
  ChargeFilterEnvelope,
  ChargeFilterList,
  ChargeFilterUpdate,
  ChargeList,
  ChargeUpdate,
} from '../../../catalog/charges/schema.ts';
import { createOwnFilter, deleteOwnFilter, overrideCharge, updateOwnFilter } from './commands.ts';
import { listOwnCharges, listOwnFilters, showOwnCharge, showOwnFilter } from './reads.ts';
import { OverrideListQuery, OverrideQuery } from './schema.ts';

const CHARGES = '/subscriptions/:external_id/charges';
const CHARGE = `${CHARGES}/:charge_code`;
const FILTERS = `${CHARGE}/filters`;
const FILTER = `${FILTERS}/:filter_id`;

const own = { permission: 'subscription', tag: 'subscriptions', query: OverrideQuery } as const;
const list = { ...own, kind: 'read', method: 'get', query: OverrideListQuery } as const;
const filter = { ...own, kind: 'command', root: 'filter', answer: ChargeFilterEnvelope } as const;

const updateCharge: Operation = {
  ...own,
  kind: 'command',
  name: 'overrideSubscriptionCharge',
  method: 'put',
  path: CHARGE,
  summary: 'Override a charge for one subscription',
  description:
    'From now on this subscription has a plan of its own, which follows changes of the former plan where they are sent with `cascade_updates`.',
  root: 'charge',
  body: ChargeUpdate,
  answer: ChargeEnvelope,
  run: overrideCharge,
};
const updateFilter: Operation = {
  ...filter,
  name: 'updateSubscriptionChargeFilter',
  method: 'put',
  path: FILTER,
  summary: 'Update a filter of a charge for one subscription',
  body: ChargeFilterUpdate,
  run: updateOwnFilter,
};

export const overrideOperations: Operation[] = [
  {
    ...list,
    name: 'findAllSubscriptionCharges',
    path: CHARGES,
    summary: 'List the charges of a subscription',
    answer: ChargeList,
    run: listOwnCharges,
  },
  {
    ...own,
    kind: 'read',
    name: 'findSubscriptionCharge',
    method: 'get',
    path: CHARGE,
    summary: 'Retrieve a charge of a subscription',
    answer: ChargeEnvelope,
    run: showOwnCharge,
  },
  updateCharge,
  { ...updateCharge, name: 'patchSubscriptionCharge', method: 'patch', hidden: true },
  {
    ...list,
    name: 'findAllSubscriptionChargeFilters',
    path: FILTERS,
    summary: 'List the filters of a charge of a subscription',
    answer: ChargeFilterList,
    run: listOwnFilters,
  },
  {
    ...filter,
    name: 'createSubscriptionChargeFilter',
    method: 'post',
    path: FILTERS,
    summary: 'Add a filter to a charge for one subscription',
    body: ChargeFilterCreate,
    run: createOwnFilter,
  },
  {
    ...own,
    kind: 'read',
    name: 'findSubscriptionChargeFilter',
    method: 'get',
    path: FILTER,
    summary: 'Retrieve a filter of a charge of a subscription',
    answer: ChargeFilterEnvelope,
    run: showOwnFilter,
  },
  updateFilter,
  { ...updateFilter, name: 'patchSubscriptionChargeFilter', method: 'patch', hidden: true },
  {
    ...filter,
    root: undefined,
    name: 'destroySubscriptionChargeFilter',
    method: 'delete',
    path: FILTER,
    summary: 'Delete a filter of a charge for one subscription',
    run: deleteOwnFilter,
  },
];
