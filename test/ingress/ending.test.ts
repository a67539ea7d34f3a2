import { EventEmitter } from 'node:events';
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

/** A response that is closed as node:http does it: it says so before it emits the event. */
class Response extends EventEmitter {
  closed = false;
  close() {
    this.closed = true;
    this.emit('close');
  }
}

test('the end of a response is its ending, and is told once to who listens', () => {
  const response = new Response();
  const ending = new Ending(response);
  const called: string[] = [];
  expect([ending.aborted, response.listenerCount('close')]).toEqual([false, 0]);
  ending.addEventListener('abort', () => called.push('first'));
  ending.addEventListener('abort', () => called.push('second'));
  expect(response.listenerCount('close')).toBe(1);
  response.close();
  ending.abort();
  expect([ending.aborted, called]).toEqual([true, ['first', 'second']]);
});

test('a response that is closed before anybody looks has ended', () => {
  const response = new Response();
  const ending = new Ending(response);
  response.close();
  let isCalled = false;
  ending.addEventListener('abort', () => {
    isCalled = true;
  });
  ending.abort();
  expect([ending.aborted, isCalled, response.listenerCount('close')]).toEqual([true, false, 0]);
});

test('an end that was called off before its response closes is told once', () => {
  const response = new Response();
  const ending = new Ending(response);
  let calls = 0;
  ending.addEventListener('abort', () => {
    calls += 1;
  });
  ending.abort();
  expect(ending.aborted).toBe(true);
  response.close();
  expect(calls).toBe(1);
});
