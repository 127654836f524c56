import { useState } from "react";
import { Link } from "react-router";
import type { BestScore, GameCard, MethodScore } from "@/api/types";
import { plural, score } from "@/ui/format";
import { Score } from "@/ui/Quantity";
import { RunDot } from "@/ui/RunDot";
import { GamePicture } from "./GamePicture";
import classes from "./games.module.css";
import { NormalizedBar } from "./NormalizedBar";
import { evaluationText, methodText } from "./texts";
import { bestRunBy, scoreBy } from "./wall";

interface GameTileProps {
  game: GameCard;
  /** Protocol of the score. */
  protocol: string | undefined;
}

/** Tile of a game with the mean of its best method. The replay of its best run plays on hover or focus. */
export function GameTile({ game, protocol }: GameTileProps) {
  const [playing, setPlaying] = useState(false);
  const best = bestRunBy(game, protocol);
  const method = scoreBy(game, protocol);
  return (
    <article
      className={classes.tile}
      onPointerEnter={({ pointerType }) => setPlaying(pointerType === "mouse")}
      onPointerLeave={() => setPlaying(false)}
      onFocus={() => setPlaying(true)}
      onBlur={() => setPlaying(false)}
    >
      <GamePicture picture={best?.picture ?? game.picture} game={game.name} playing={playing} />
      <div className={classes.tileWords}>
        <div className={classes.tileHead}>
          <h2>
            <Link to={`/games/${game.slug}`} className={classes.cover}>
              {game.name}
            </Link>
          </h2>
          {method && (
            <span className={classes.tileScore}>
              <Score value={method.mean} meaning={`Mean of ${plural(method.runs, "run")}`} />
            </span>
          )}
        </div>
        {method && <Method method={method} best={best} />}
        {best ? <Best best={best} /> : <p className={classes.dim}>{withoutScore(game, protocol)}</p>}
      </div>
    </article>
  );
}

function Method({ method, best }: { method: MethodScore; best: BestScore | undefined }) {
  return (
    <>
      {best && <NormalizedBar score={{ ...best, human_normalized: method.human_normalized }} />}
      <p className={classes.from} title={methodText(method)}>
        {method.method}, {method.runs === 1 ? "1 run" : `mean of ${plural(method.runs, "run")}`}
      </p>
    </>
  );
}

/** The run with the best checkpoint, which is chosen by its score. */
function Best({ best }: { best: BestScore }) {
  return (
    <>
      <p className={classes.from} title={evaluationText(best)}>
        <span className={classes.bestScore} title="Score of the run's best checkpoint">
          Best {score(best.mean)}
        </span>
        <RunDot run={best.run} />
        <Link to={`/runs/${best.run.id}`} className={classes.above}>
          {best.run.name}
        </Link>
        <span className={classes.dim}>#{best.run.id}</span>
      </p>
      {best.short && <p className={classes.dim}>From {plural(best.episodes, "episode")} only</p>}
    </>
  );
}

function withoutScore({ best, runs }: GameCard, protocol: string | undefined): string {
  const [other] = best;
  if (other && protocol) return `No score by ${protocol}; ${score(other.mean)} by ${other.protocol}`;
  return `${plural(runs, "run")}, none evaluated yet`;
}
