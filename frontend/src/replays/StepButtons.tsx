import { ActionIcon, Group, Tooltip } from "@mantine/core";
import {
  IconBolt,
  IconChevronLeft,
  IconChevronRight,
  IconChevronsLeft,
  IconChevronsRight,
  IconCoin,
  IconHeartBroken,
} from "@tabler/icons-react";
import type { ReactNode } from "react";
import type { Playhead } from "./clock";
import classes from "./replays.module.css";
import { jumpsFrom, type Thoughts } from "./track";
import { useDecision } from "./useThoughts";
import type { Steps } from "./useSteps";

interface StepButtonsProps {
  thoughts: Thoughts | undefined;
  /** Reason why there is no track to step through. */
  why: string;
  head: Playhead;
  steps: Steps;
}

/** Buttons to step by picture, decision or notable event. */
export function StepButtons({ thoughts, why, head, steps }: StepButtonsProps) {
  if (!thoughts) return <Buttons steps={steps} to={{}} why={() => why} stepping={why} />;
  return <Found thoughts={thoughts} head={head} steps={steps} />;
}

function Found({ thoughts, head, steps }: { thoughts: Thoughts; head: Playhead; steps: Steps }) {
  const decision = useDecision(thoughts, head);
  const { previousReward, nextReward, nextLostLife, greatestSurprise } = jumpsFrom(thoughts, decision);
  const lives = thoughts.lives.some((left) => left >= 0);
  const reasons: Record<Jump, string> = {
    previousReward: "There is no reward before this decision",
    nextReward: "There is no reward after this decision",
    nextLostLife: lives ? "No life is lost after this decision" : "This game has no lives",
    greatestSurprise: "No decision was surprising",
  };
  const to = { previousReward, nextReward, nextLostLife, greatestSurprise };
  return <Buttons steps={steps} to={to} why={(jump) => reasons[jump]} />;
}

type Jump = "previousReward" | "nextReward" | "nextLostLife" | "greatestSurprise";

const JUMPS: { jump: Jump; does: string; icon: ReactNode }[] = [
  {
    jump: "previousReward",
    does: "Previous reward",
    icon: (
      <>
        <IconChevronLeft size={12} />
        <IconCoin size={14} />
      </>
    ),
  },
  {
    jump: "nextReward",
    does: "Next reward",
    icon: (
      <>
        <IconCoin size={14} />
        <IconChevronRight size={12} />
      </>
    ),
  },
  { jump: "nextLostLife", does: "Next lost life", icon: <IconHeartBroken size={14} /> },
  { jump: "greatestSurprise", does: "Greatest surprise", icon: <IconBolt size={14} /> },
];

interface ButtonsProps {
  steps: Steps;
  to: Partial<Record<Jump, number | null>>;
  /** Reason why a jump has no target. */
  why: (jump: Jump) => string;
  /** Reason why stepping is unavailable. */
  stepping?: string | null;
}

function Buttons({ steps, to, why, stepping = null }: ButtonsProps) {
  return (
    <Group gap={8} role="group" aria-label="Step through the replay">
      <ActionIcon.Group>
        <Step does="Previous decision" hint="[" blocked={stepping} onStep={() => steps.byDecision(-1)}>
          <IconChevronsLeft size={16} />
        </Step>
        <Step does="Previous frame" hint="," blocked={stepping} onStep={() => steps.byPicture(-1)}>
          <IconChevronLeft size={16} />
        </Step>
        <Step does="Next frame" hint="." blocked={stepping} onStep={() => steps.byPicture(1)}>
          <IconChevronRight size={16} />
        </Step>
        <Step does="Next decision" hint="]" blocked={stepping} onStep={() => steps.byDecision(1)}>
          <IconChevronsRight size={16} />
        </Step>
      </ActionIcon.Group>
      <ActionIcon.Group>
        {JUMPS.map(({ jump, does, icon }) => {
          const decision = to[jump] ?? null;
          return (
            <Step
              key={jump}
              does={does}
              blocked={decision === null ? why(jump) : null}
              onStep={() => decision !== null && steps.toDecision(decision)}
            >
              {icon}
            </Step>
          );
        })}
      </ActionIcon.Group>
    </Group>
  );
}

interface StepProps {
  does: string;
  /** The equivalent keyboard shortcut. */
  hint?: string;
  /** Reason why the action is unavailable. The button stays focusable to show it. */
  blocked: string | null;
  onStep: () => void;
  children: ReactNode;
}

function Step({ does, hint, blocked, onStep, children }: StepProps) {
  return (
    <Tooltip label={blocked ?? (hint ? `${does} (${hint})` : does)}>
      <ActionIcon
        variant="default"
        size={28}
        className={classes.step}
        aria-label={does}
        aria-keyshortcuts={hint}
        aria-disabled={blocked !== null}
        data-disabled={blocked !== null || undefined}
        onClick={blocked === null ? onStep : undefined}
      >
        {children}
      </ActionIcon>
    </Tooltip>
  );
}
