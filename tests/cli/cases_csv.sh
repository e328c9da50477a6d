# CSV in and out. Read by run_cli.sh.

io="--input in.csv --output out.csv --period 2 $cpu"

refuses "missing file" 1 "cannot read 'none.csv': No such file" run sma --input none.csv \
    --output out.csv $cpu
deep=$(printf '%0250d/' 1 2 3 4 5 6 7 8)none.csv
refuses "missing file, a long path" 1 "^steelyard: cannot read '0.*none.csv': No such file.*; check" run sma \
    --input "$deep" --output out.csv $cpu
mkdir -p dir.csv dir.npy
refuses "input is a folder" 1 "is a directory" run sma --input dir.csv --output out.csv $cpu
"$steelyard" run sma --input - --output out.csv $cpu <dir.csv >stdout 2>err
report "standard input is a folder" "$([ $? = 1 ] &&
    grep -q "'standard input' is a directory" err || echo "failed")"
refuses "npy input is a folder" 1 "is a directory" run sma --input dir.npy --output out.csv $cpu
refuses "input of another ending" 2 "must end in .csv or .npy" run sma --input in.txt \
    --output out.csv $cpu
refuses "output of another ending" 2 "must end in .csv or .npy" run sma --input in.csv \
    --output out.txt $cpu

: >in.csv
refuses "empty file" 1 "is empty" run sma $io
printf 'time,close\n' >in.csv
refuses "header only" 1 "header row only" run sma $io
printf 'time,close\n\n\n' >in.csv
refuses "header and empty lines" 1 "header row only" run sma $io
printf 'time,close\n1,2\n3\n4,5\n' >in.csv
refuses "ragged, too few" 1 "line 3 has 1 field where the header has 2" run sma $io
printf 'time,close\n1,2\n3,4,5\n' >in.csv
refuses "ragged, too many" 1 "line 3 has 3 fields where the header has 2" run sma $io
printf 'time,close\n1,2\n\n4,5\n' >in.csv
refuses "empty line within" 1 "line 3 is empty" run sma $io
for text in abc 1x 0x1p3 1,2x '1 2' '$5' 1e999 --1 nan0; do
    printf 'time,close\n1,2\n1,"%s"\n4,5\n' "$text" >in.csv
    refuses "text '$text' in a price" 1 "line 3, column 'close'" run sma $io
done
printf 'time,"no\nte",close\n1,"a\nb\n",2\n3,"c",x\n' >in.csv
refuses "line number after quoted line feeds" 1 "line 6, column 'close'" run sma $io
printf 'time,close\n1,"2\n3,4\n' >in.csv
refuses "open quote" 1 "line 2: a quoted field has no closing quote" run sma $io
printf '\377\376t\000,\000' >in.csv
refuses "UTF-16" 1 "UTF-16" run sma $io
printf 'c\000l\000\n\0001\000' >in.csv
refuses "UTF-16 without a mark" 1 "UTF-16" run sma $io
printf '\000c\000l\000\n\0001' >in.csv
refuses "UTF-16 without a mark, big-endian" 1 "UTF-16" run sma $io
printf 'time,close\n1,2\n2,1\000\n' >in.csv
refuses "zero byte in a price" 1 "line 3, column 'close': there is a zero byte" run sma $io
printf 'time,close\n1,2\n2,%01200d\n' 1 | sed 's/,0/,1/' >in.csv
refuses "number of 1200 characters" 1 "'10*\.\.\.' is longer than 1,199 characters; correct it" run sma $io
printf 'time,close\n1,2\n2,%01200d\n' 1 >in.csv
refuses "number of 1200 characters, most of them zeros" 1 "longer than 1,199 characters" run sma $io
printf '\223NUMPY\001\000' >in.csv
refuses "npy under another name" 1 "is an .npy file" run sma $io
printf '\037\213\010\000\000' >in.csv
refuses "gzip" 1 "in.csv is compressed by gzip; decompress it" run sma $io
printf 'PK\003\004\024\000' >in.csv
refuses "zip" 1 "in.csv is a zip archive or a spreadsheet; unpack it" run sma $io
printf 'time,close\r1,2\r2,3\r' >in.csv
refuses "CR alone" 1 "in.csv has CR alone at the ends of its lines; save it" run sma $io
printf 'time;close\n1;2\n3;4\n' >in.csv
refuses "semicolons" 2 "(separate the fields by commas, and write decimals with a point)" run sma $io --column close
refuses "semicolons without --column" 1 "'1;2' is not a number; separate the fields by commas" \
    run sma $io
printf 'time;close\n1;2,5\n3;4,5\n' >in.csv
refuses "semicolons, and commas in numbers" 1 "line 2 has 2 fields where the header has 1; separate the fields by commas" \
    run sma $io
printf 'time,close\n1,2\n2,N/A\n' >in.csv
refuses "a word for no value" 1 "'N/A' is not a number; correct it, leave it empty if" run sma $io
printf 'time,open,close\n1,2,3\n' >in.csv
dot="--input in.csv --output out.csv $cpu"
refuses "two inputs, none of them there" 2 "no column 'x'; its columns are: time, open, close (choose 2 with --column)" \
    run dot $dot
refuses "one of the columns named" 2 "no column 'x'; its columns are: time, open, close$" run dot $dot \
    --column open,x
printf 'close\n1\n' >in.csv
refuses "two inputs, one column" 2 "no column 'x'; its columns are: close$" run dot $dot
printf '1\n2\n3\n' >in.csv
refuses "one column without a header" 2 "is the header row missing" run sma $io
printf '1,2\n2,3\n3,4\n' >in.csv
refuses "two columns without a header" 2 "is the header row missing" run sma $io
accepts "a number as a name" run sum --input in.csv --output out.csv --column 2 $cpu
printf '2024\n1\n2\n' >in.csv
refuses "a year as the only column" 2 "is the header row missing? if not, choose with --column" run sma $io
accepts "a year as the only column, chosen" run sma $io --column 2024
printf 'Date,2024\n1,2\n2,3\n' >in.csv
accepts "a year as the only column's name" run sma $io

printf 'time,open,close\n1,1,10\n2,2,20\n3,4,40\n' >in.csv
refuses "unknown column" 2 "no column 'clse'; its columns are: time, open, close" run sma $io \
    --column clse
printf 'x""y,"x""y"\n1,2\n' >quotes.csv
accepts "quotes within a name that is not quoted" run sum --input quotes.csv --output out.csv --column 'x""y' $cpu
refuses "column twice" 2 "twice" run sma $io --column open,open
printf 'time,open,close\n1,1,10\n2,2,20\n' >two.csv
refuses "more series than values: no array is named" 2 "needs at least 3 values.*or smaller parameters$" run sma \
    --input two.csv --output out.csv $cpu --period 3 --column time,open,close
accepts "column twice, of two inputs" run dot --input in.csv --output out.csv $cpu --column close,close
holds "column twice, of two inputs: squares" out.csv <<END
series,dot
close_close,2100
END
refuses "too few columns" 2 "atr reads 3 columns (high,low,close), --column names 2" run atr $io --column open,close
refuses "too many columns" 2 "dot reads 2 columns (x,y), --column names at least 3" run dot --input in.csv --output out.csv $cpu \
    --column open,close,open
printf ',SPX\n1,2\n2,3\n' >index.csv
accepts "a column without a name is no series" run sma --input index.csv --output out.csv --period 1 $cpu
printf ',SPX,DJI\n1,2,3\n' >index.csv
refuses "a column without a name is listed so" 2 "from: '', SPX, DJI" run sma --input index.csv --output out.csv $cpu
refuses "empty column name" 2 "no column ''" run sma $io --column open,
refuses "column for npy" 2 "is for CSV" run sma --input in.npy --output out.csv --column x $cpu
accepts "default column" run sma $io
holds "default column is close" out.csv <<END
time,open,close,sma
1,1,10,nan
2,2,20,15
3,4,40,30
END
accepts "chosen column" run sma $io --column OPEN
holds "chosen column in another case" out.csv <<END
time,open,close,sma
1,1,10,nan
2,2,20,1.5
3,4,40,3
END
accepts "two columns" run sma $io --column close,open
holds "two columns are two series" out.csv <<END
time,open,close,close_sma,open_sma
1,1,10,nan,nan
2,2,20,15,1.5
3,4,40,30,3
END
accepts "sum" run sum --input in.csv --output out.csv --column close,open $cpu
holds "sum of two series" out.csv <<END
series,sum
close,70
open,7
END
accepts "bollinger" run bollinger $io --width 0
holds "three outputs" out.csv <<END
time,open,close,upper,middle,lower
1,1,10,nan,nan,nan
2,2,20,15,15,15
3,4,40,30,30,30
END

printf 'a,b\n1,2\n3,4\n' >in.csv
refuses "no default column" 2 "choose with --column from: a, b" run sma $io
printf 'Close,close\n1,2\n3,6\n' >in.csv
accepts "exact case first" run sma $io
holds "exact case first: result" out.csv <<END
Close,close,sma
1,2,nan
3,6,4
END
printf 'CLOSE,Close\n1,2\n3,6\n' >in.csv
refuses "ambiguous column" 2 "several columns" run sma $io
printf 'CLOSE,close,close\n1,2,3\n4,5,6\n' >in.csv
refuses "ambiguous column in the same case" 2 "several columns 'close'" run sma $io
# As many columns as one argument can name: each is found among all the others.
names=$(awk 'BEGIN { for (i = 0; i < 20000; i++) printf "%sc%x", i ? "," : "", i }')
{
    echo "$names"
    for value in 1 3; do awk -v v=$value 'BEGIN { for (i = 0; i < 20000; i++) printf "%s%d", i ? "," : "", i + v; print "" }'; done
} >in.csv
accepts "20,000 columns" run bollinger $io --column "$names"
report "20,000 columns: all results" "$([ "$(tail -n 1 out.csv | tr ',' '\n' | wc -l)" = 80000 ] || echo "others")"
for time in time Date DATETIME timestamp; do
    printf '%s,price\n1,2\n3,6\n' $time >in.csv
    accepts "the only column that is no time, beside $time" run sma $io
done
printf 'sma,close,sma_2\n1,2,0\n3,6,0\n' >in.csv
accepts "output name taken" run sma $io
holds "output name gets a number" out.csv <<END
sma,close,sma_2,sma_3
1,2,0,nan
3,6,0,4
END

printf '%03000d\n1\nx\n' 1 | sed '1s/^/c/' >in.csv
refuses "a long name of a column" 1 "line 3, column 'c0.*1': 'x' is not a number; correct it" run sma $io
printf 'close\n1\n\n3\n4\n6\n\n\n' >in.csv
accepts "one column with a missing value" run sma $io
holds "missing value is nan" out.csv <<END
close,sma
1,nan
,nan
3,nan
4,3.5
6,5
END
printf 'close,note\n1,a\n,b\nNaN,c\ninf,d\n-Infinity,e\n 7 ,f\n"8",g\n\t9\t,h\n' >in.csv
accepts "nan, inf, blanks and quotes" run sma --input in.csv --output out.csv --period 1 $cpu
cut -d, -f2- out.csv >columns
holds "nan, inf, blanks and quotes: result" columns <<END
note,sma
a,1
b,nan
c,nan
d,nan
e,nan
f,7
g,8
h,9
END

printf '\357\273\277"close","no, ""te"""\r\n1,"a\nb"\r\n2,"c,d"\r\n3,e' >in.csv
accepts "byte order mark, CRLF, quotes, no last line end" run sma $io
printf '\357\273\277"close","no, ""te""",sma\r\n1,"a\nb",nan\r\n2,"c,d",1.5\r\n3,e,2.5\r\n' >wanted
holds "bytes pass through" out.csv <wanted
printf '"a,b","c""d"\n1,2\n3,4\n' >in.csv
accepts "reduction of a quoted name" run sum --input in.csv --output out.csv --column 'c"d' $cpu
printf 'series,sum\n"c""d",6\n' >wanted
holds "quoted name in the result" out.csv <wanted
printf '"a,b","c""d"\n1,2\n3,4\n' >in.csv
accepts "a name with a comma" run sum --input in.csv --output out.csv --column a,b $cpu
printf 'series,sum\n"a,b",4\n' >wanted
holds "a name with a comma: result" out.csv <wanted
printf 'x,"y""q",c\n1,2,3\n4,5,6\n' >in.csv
accepts "reduction of two inputs, one in quotes" run dot --input in.csv --output out.csv \
    --column 'y"q,c' $cpu
printf 'series,dot\n"y""q_c",36\n' >wanted
holds "their joined name is one field" out.csv <wanted

# What is rounded to zero is +0, from below, too.
printf 'close\n-1e-45\n0\n0\n' >in.csv
accepts "float result below zero" run sma --input in.csv --output out.csv --period 3 --dtype f32 $cpu
holds "float result below zero, rounded to 0" out.csv <<END
close,sma
-1e-45,nan
0,nan
0,0
END
printf 'close\n-5e-324\n0\n0\n' >in.csv
accepts "mean below zero" run mean --input in.csv --output out.csv $cpu
printf 'series,mean\nclose,0\n' >wanted
holds "mean below zero, rounded to 0" out.csv <wanted

# Shortest decimals: a window of one gives back what came in.
printf 'close\n' >in.csv
for x in 0.1 1234.5 1e-05 5e-324 2.2250738585072014e-308 0.0001 123456789.123 9007199254740993 \
    9007199254740992 1e+22 1e+23 4.35 0.3 -0.1 9.5367431640625e-07 2.220446049250313e-16 \
    123456789012345680 100 1e+16 1000000000000000 0.30000000000000004; do
    echo "$x" >>in.csv
done
accepts "numbers" run sma --input in.csv --output out.csv --period 1 $cpu
sed 1d out.csv | cut -d, -f2 >columns
sed 's/9007199254740993/9007199254740992/; s/123456789012345680/1.2345678901234568e+17/; 1d' \
    in.csv >wanted
holds "numbers are printed as short as they came" columns <wanted
printf 'time,close\n1,3\n2,0.30000000000000004\n3,0.1\n4,1e-5\n5,1E5\n6,+.5\n' >in.csv
accepts "numbers printed" run sma --input in.csv --output out.csv --period 1 $cpu
holds "numbers printed shortest" out.csv <<END
time,close,sma
1,3,3
2,0.30000000000000004,0.30000000000000004
3,0.1,0.1
4,1e-5,1e-05
5,1E5,100000
6,+.5,0.5
END

# Between the floats 1.0000001 and 1.0000002, nearer to the first by less than a double can tell.
printf 'close\n1.00000017881393432617187499\n3.4028235677973366e38\n' >in.csv
f32="--input in.csv --output out.csv --period 1 --dtype f32 $cpu"
accepts "decimals as floats" run sma $f32
cut -d, -f2 out.csv >columns
printf 'sma\n1.0000001\n3.4028235e+38\n' >wanted
holds "decimals as floats are rounded once" columns <wanted
for text in 1e39 -1e39 3.4028235677973367e38 1e999; do
    printf 'time,close\n1,2\n2,%s\n' "$text" >in.csv
    refuses "$text as a float" 1 "line 3, column 'close': '$text' is too large for a float" run sma $f32
done

printf 'close\n1\n3\n' >in.csv
"$steelyard" run sma --input - --output - --period 2 $cpu <in.csv >stdout 2>err
report "standard input and output" "$([ $? = 0 ] && [ ! -s err ] || echo "failed")"
printf 'close,sma\n1,nan\n3,2\n' >wanted
holds "standard input and output: result" stdout <wanted

printf '\223NUMPY\001' >in.npy
"$steelyard" run sma --input - --output - $cpu <in.npy >stdout 2>err
report "an array on standard input" "$([ $? = 1 ] &&
    grep -q '^steelyard: standard input is an .npy file; name it as a file' err || echo "failed")"

printf 'not this line\nclose\n1\n3\n' >in.csv
{
    read -r line
    "$steelyard" run sma --input - --output - --period 2 $cpu
} <in.csv >stdout 2>err
report "standard input from where it stands" "$([ $? = 0 ] && [ ! -s err ] || echo "failed")"
holds "standard input from where it stands: result" stdout <wanted

accepts "a whole year file" run bollinger --input "$data/sp500_1d.csv" --output out.csv $cpu
cut -d, -f1-6 out.csv >columns
holds "its columns pass through" columns <"$data/sp500_1d.csv"

# Longer than what one thread reads or writes at a time.
means() { # of two neighbours in the lines of in.csv
    awk 'NR == 1 { print $0 ",sma"; next } { last = value; value = $0; lost = gone; gone = $0 == "" }
        NR == 2 || lost || gone { print $0 ",nan"; next } { printf "%s,%s\n", $0, (last + value) / 2 }'
}
{ echo close && seq 20000; } >in.csv
accepts "many lines" run sma $io
means <in.csv >wanted
holds "many lines: result" out.csv <wanted
{ cat in.csv && printf '\n\n'; } | sed '4096,4099s/.*//; 8190,8200s/.*//' >long.csv && mv long.csv in.csv
accepts "many lines, some of them empty" run sma $io
head -n 20001 in.csv | means >wanted
holds "many lines, some of them empty: result" out.csv <wanted
sed '15000s/.*/y/; 9000s/.*/x/; 9001s/.*/z/' in.csv >long.csv && mv long.csv in.csv
refuses "many lines, three of them wrong" 1 "line 9000, column 'close': 'x' is not a number" run sma $io

# Results that are lost to the end are told of once, and only where a value took them.
since="is no finite number, and every"
printf 'a,b,c\nnan,1,1\n2,2,2\n3,3,inf\n4,4,4\n5,5,5\n6,6,6\n' >in.csv
warns "nothing after a leading nan" "value 1 of 'a' $since ema since is nan; leave" run ema $io --column a
holds "nothing after a leading nan: written" out.csv <<END
a,b,c,ema
nan,1,1,nan
2,2,2,nan
3,3,inf,nan
4,4,4,nan
5,5,5,nan
6,6,6,nan
END
warns "nothing after an infinity" "value 3 of 'c' $since ema since is nan; leave" run ema $io --column b,c
warns "two of three series" "value 1 of 'a' $since ema since is nan; so with 1 more series; leave" \
    run ema $io --column a,b,c
warns "one of several inputs" "value 3 of 'c' $since atr since is nan; leave" run atr $io --column b,b,c
accepts "a window leaves it behind" run sma $io --column a
accepts "results that are numbers" run ema $io --column b
printf 'a\n1\n2\n3\n4\n\n' >in.csv
accepts "in the last window" run ema $io
printf 'a\n1\n1\n1\n1\n1\n' >in.csv
accepts "no scores of what is flat" run zscore $io
