import { expect, test } from 'vitest';
import { flowCommands } from '../src/flow-commands.ts';
import { operations } from '../src/operations.ts';
import { runsAsFlow } from '../src/platform/operation.ts';

test('every command that runs as a flow has one, and every flow has its operation', () => {
  // A read that writes when it is asked to is such a command then.
  const asked = operations
    .filter(({ run, writesWhen, hidden }) => (run === runsAsFlow || writesWhen) && !hidden)
    .map(({ name }) => name);
  expect(asked.sort()).toEqual(Object.keys(flowCommands).sort());
});
