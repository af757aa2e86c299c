/**
 * A view whose code is loaded when it is first shown, so that an account opens sooner.
 *
 * @module
 */
import { type ComponentType, createElement } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { texts } from '../texts.ts';
import { View } from './elements.tsx';
import { TaskState, useTask } from './task.tsx';

export function lateView<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
): ComponentType<Props> {
  let loaded: ComponentType<Props> | undefined;
  return function LateView(props: Props) {
    const task = useTask();
    const [view, setView] = useState(() => loaded);
    useEffect(() => {
      if (loaded === undefined) {
        task.run(async () => {
          loaded = await load();
          setView(() => loaded);
        });
      }
    }, []);
    if (view !== undefined) return createElement(view, props);
    return (
      <View title={texts.loading}>
        <TaskState task={task} />
      </View>
    );
  };
}
