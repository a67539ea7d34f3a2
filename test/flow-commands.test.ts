import { expect, test } from 'vitest';
import { flowCommands } from '../src/flow-commands.ts';
import { operations } from '../src/operations.ts';
import { runsAsFlow } from '../src/platform/operation.ts';

test('every command that runs as a flow has one, and every flow its operation', () => {
  const asked = operations.filter(({ run, hidden }) => run === runsAsFlow && !hidden).map(({ name }) => name);
  expect(asked.sort()).toEqual(Object.keys(flowCommands).sort());
});
