import type { Operation } from '../../../platform/operation.ts';
import { createHold, releaseHold, updateHold } from './commands.ts';
import { gathersByWallet } from './gather-by-wallet.ts';
import { listAllHolds, showHold } from './reads.ts';
import { HoldCreate, HoldEnvelope, HoldList, HoldSettle, HoldsQuery, HoldUpdate } from './schema.ts';
import { settleHold } from './settle-hold.ts';

const HOLDS = '/wallets/:svc_id/holds';
const HOLD = `${HOLDS}/:hold_id`;

const common = { permission: 'wallet_hold', tag: 'wallets', answer: HoldEnvelope } as const;
const command = { ...common, kind: 'command', gathers: gathersByWallet } as const;
const write = { ...command, root: 'hold' } as const;

export const walletHoldOperations: Operation[] = [
  {
    ...write,
    name: 'createWalletHold',
    method: 'post',
    path: HOLDS,
    summary: 'Set credit of a wallet aside',
    description: 'The credit cannot be used for anything else until the hold is settled, released or expires.',
    body: HoldCreate,
    run: createHold,
  },
  {
    ...common,
    name: 'findAllWalletHolds',
    fresh: true,
    method: 'get',
    path: HOLDS,
    summary: 'List the holds of a wallet',
    query: HoldsQuery,
    answer: HoldList,
    kind: 'read',
    run: listAllHolds,
  },
  {
    ...common,
    name: 'findWalletHold',
    fresh: true,
    method: 'get',
    path: HOLD,
    summary: 'Retrieve a hold of a wallet',
    kind: 'read',
    run: showHold,
  },
  {
    ...write,
    name: 'updateWalletHold',
    method: 'put',
    path: HOLD,
    summary: 'Prolong or change a hold of a wallet',
    body: HoldUpdate,
    run: updateHold,
  },
  {
    ...write,
    name: 'settleWalletHold',
    method: 'post',
    path: `${HOLD}/settle`,
    summary: 'Settle a hold by an event or an amount',
    description: 'What was held beyond it is free again.',
    body: HoldSettle,
    run: settleHold,
  },
  {
    ...command,
    name: 'releaseWalletHold',
    method: 'post',
    path: `${HOLD}/release`,
    summary: 'Give held credit back',
    run: releaseHold,
  },
];
