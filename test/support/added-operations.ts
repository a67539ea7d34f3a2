import { afterAll, beforeAll } from 'vitest';
import { operationsByName } from '../../src/operations.ts';
import type { Operation } from '../../src/platform/operation.ts';

/**
 * While the tests of this file run, commands of the queue find these operations too; other files of the worker do not.
 */
export function withOperations(...added: readonly Operation[]): void {
  const known = operationsByName as Map<string, Operation>;
  beforeAll(() => {
    for (const operation of added) known.set(operation.name, operation);
  });
  afterAll(() => {
    for (const { name } of added) known.delete(name);
  });
}
