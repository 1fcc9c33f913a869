{-# LANGUAGE LambdaCase #-}

-- | Balance a household ledger.
--
-- Every input line reads @DATE FROM TO CENTS@, for example
--
-- > 2024-03-01 wallet groceries 1895
--
-- Money only moves between accounts, so all balances add up to zero.
module Main (main) where

import           Data.Char       (isDigit)
import           Data.List       (sortOn)
import qualified Data.Map.Strict as Map
import           System.Exit     (exitFailure)
import           System.IO       (hPutStrLn, stderr)

type Account  = String
type Cents    = Integer
type Balances = Map.Map Account Cents

data Transfer = Transfer
  { transferDate   :: String
  , transferFrom   :: Account
  , transferTo     :: Account
  , transferAmount :: Cents
  } deriving (Eq, Show)

data LedgerError
  = WrongFieldCount Int Int   -- ^ line number, fields found
  | BadAmount Int String      -- ^ line number, offending text
  | SameAccount Int Account   -- ^ line number, account
  deriving (Eq, Show)

explain :: LedgerError -> String
explain = \case
  WrongFieldCount n k -> at n ++ "expected 4 fields, found " ++ show k
  BadAmount n s       -> at n ++ "not a whole number of cents: " ++ show s
  SameAccount n a     -> at n ++ "both sides are " ++ show a
  where
    at n = "line " ++ show n ++ ": "

parseLine :: Int -> String -> Either LedgerError Transfer
parseLine n line = case words line of
  [date, from, to, amount]
    | not (all isDigit amount) -> Left (BadAmount n amount)
    | from == to               -> Left (SameAccount n from)
    | otherwise                -> Right (Transfer date from to (read amount))
  fields -> Left (WrongFieldCount n (length fields))

-- | Blank lines and lines starting with a hash sign are skipped.
parseLedger :: String -> Either LedgerError [Transfer]
parseLedger text =
  traverse (uncurry parseLine)
    [ (n, line)
    | (n, line) <- zip [1 ..] (lines text)
    , take 1 (dropWhile (== ' ') line) `notElem` ["", "#"]
    ]

apply :: Balances -> Transfer -> Balances
apply balances t =
  Map.insertWith (+) (transferTo t) amount
    (Map.insertWith (+) (transferFrom t) (negate amount) balances)
  where
    amount = transferAmount t

balance :: [Transfer] -> Balances
balance = foldl apply Map.empty . sortOn transferDate

formatCents :: Cents -> String
formatCents c = sign ++ show whole ++ "." ++ pad (show rest)
  where
    sign          = if c < 0 then "-" else ""
    (whole, rest) = abs c `divMod` 100
    pad s         = replicate (2 - length s) '0' ++ s

report :: Balances -> String
report balances = unlines
  [ take 20 (name ++ repeat ' ') ++ replicate (12 - length money) ' ' ++ money
  | (name, cents) <- sortOn snd (Map.toList balances)
  , let money = formatCents cents
  ]

main :: IO ()
main = do
  text <- getContents
  case parseLedger text of
    Left err -> hPutStrLn stderr ("ledger: " ++ explain err) >> exitFailure
    Right ts -> do
      let balances = balance ts
      putStr (report balances)
      putStrLn ("check: " ++ show (sum (Map.elems balances)))
