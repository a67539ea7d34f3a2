import { expect, test } from 'vitest';
import { Ending } from '../../src/ingress/ending.ts';

test('listeners of an end are called once, in the order in which they came', () => {
  const ending = new Ending();
  const called: string[] = [];
  const forgotten = () => called.push('forgotten');
  ending.addEventListener('abort', () => called.push('first'));
  ending.addEventListener('abort', forgotten);
  ending.addEventListener('abort', () => called.push('second'));
  ending.removeEventListener('abort', forgotten);
  expect(ending.aborted).toBe(false);

  ending.abort();
  ending.abort();

  expect(ending.aborted).toBe(true);
  expect(called).toEqual(['first', 'second']);
});

test('who listens after the end is never called', () => {
  const ending = new Ending();
  ending.abort();
  let isCalled = false;
  ending.addEventListener('abort', () => {
    isCalled = true;
  });
  ending.abort();
  expect(isCalled).toBe(false);
});

test('a listener sees that the end has come', () => {
  const ending = new Ending();
  let seen = false;
  ending.addEventListener('abort', () => {
    seen = ending.aborted;
  });
  ending.abort();
  expect(seen).toBe(true);
});
