/**
 * What the views take from the browser's window: the place in the page's address, and whether somebody uses it.
 *
 * @module
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import { createIdle } from '../model/running-spends.ts';

/** The part of the address behind `#`. Links and the browser's back button change it. */
export function useRoute(): string {
  const [route, setRoute] = useState(readRoute);
  useEffect(() => {
    const update = (): void => {
      // The link that skips the navigation names no view.
      if (readRoute() !== 'content') setRoute(readRoute());
    };
    addEventListener('hashchange', update);
    // A link may have been followed before this listened.
    update();
    return () => removeEventListener('hashchange', update);
  }, []);
  return route === '' ? 'home' : route;
}

function readRoute(): string {
  return location.hash.slice(1);
}

/** Calls once nobody has touched the page for this time since it was busy. */
export function useIdle(idleMs: number, isBusy: () => boolean, onIdle: () => void): void {
  const handler = useRef(onIdle);
  handler.current = onIdle;
  useEffect(() => {
    const idle = createIdle(idleMs, isBusy, Date.now);
    const timer = setInterval(() => {
      if (idle.isIdle()) {
        clearInterval(timer);
        handler.current();
      }
    }, 1_000);
    const events = ['pointerdown', 'keydown', 'scroll'] as const;
    for (const event of events) addEventListener(event, idle.use, { passive: true });
    return () => {
      clearInterval(timer);
      for (const event of events) removeEventListener(event, idle.use);
    };
  }, [idleMs, isBusy]);
}
