# .npy in and out. Read by run_cli.sh.

# npy DESCR FORTRAN SHAPE: version 1.0 header of 128 bytes.
npy() {
    printf '\223NUMPY\001\000\166\000'
    printf '%-117s\n' "{'descr': '$1', 'fortran_order': $2, 'shape': $3, }"
}
# f8 WORD...: 1 to 6 and 15, 25 as doubles; `nan` is the library's NaN, `huge` is 2^1023.
f8() {
    for value in "$@"; do
        printf '\000\000\000\000\000\000'
        case $value in
        1) printf '\360\077' ;;
        1.5) printf '\370\077' ;;
        2) printf '\000\100' ;;
        2.5) printf '\004\100' ;;
        3) printf '\010\100' ;;
        4) printf '\020\100' ;;
        4.5) printf '\022\100' ;;
        5) printf '\024\100' ;;
        5.5) printf '\026\100' ;;
        6) printf '\030\100' ;;
        15) printf '\056\100' ;;
        huge) printf '\340\177' ;;
        inf) printf '\360\177' ;;
        nan) printf '\370\177' ;;
        esac
    done
}
io="--input in.npy --output out.npy --period 2 $cpu"
to_csv="--input in.npy --output out.csv --period 2 $cpu"

{ npy '<f8' False '(3,)' && f8 1 2 3; } >in.npy
accepts "npy 1-D" run sma $io
{ npy '<f8' False '(3,)' && f8 nan 1.5 2.5; } >wanted
holds "npy 1-D: result" out.npy <wanted
accepts "npy 1-D to CSV" run sma $to_csv
holds "npy 1-D to CSV: result" out.csv <<END
x,sma
1,nan
2,1.5
3,2.5
END
accepts "npy 1-D, three outputs" run bollinger $io --width 0
{ npy '<f8' False '(3, 3)' && f8 nan 1.5 2.5 nan 1.5 2.5 nan 1.5 2.5; } >wanted
holds "npy 1-D, three outputs: result" out.npy <wanted
accepts "npy 1-D, reduction" run sum --input in.npy --output out.npy $cpu
{ npy '<f8' False '(1,)' && f8 6; } >wanted
holds "npy 1-D, reduction: result" out.npy <wanted
{ npy '<f8' False '(20000, 2)' && head -c 320000 /dev/zero; } >in.npy
accepts "npy to CSV, many reductions" run sum --input in.npy --output out.csv $cpu
{ echo series,sum && seq 0 19999 | sed 's/$/,0/'; } >wanted
holds "npy to CSV, many reductions: result" out.csv <wanted
{ npy '<f8' False '(2, 20000)' && head -c 320000 /dev/zero; } >in.npy
accepts "npy to CSV, many columns" run sma $to_csv
{ echo 0,1,0_sma,1_sma && echo 0,0,nan,nan && yes 0,0,0,0 | head -n 19999; } >wanted
holds "npy to CSV, many columns: result" out.csv <wanted
{ npy '<f8' False "(3,), 'shape': (3,)" && f8 1 2 3; } >in.npy
refuses "npy, its shape twice" 1 "header is not readable" run sma $io
{ npy '<f8' False '(3,)} text {' && f8 1 2 3; } >in.npy
refuses "npy, text behind the header" 1 "header is not readable" run sma $io
{ npy '<f8' False '(3,)' && f8 1 2 3; } >in.npy
refuses "npy shorter than the period" 2 "period 4 needs at least 4 values, the series has 3" run sma \
    --input in.npy --output out.npy --period 4 $cpu

{ npy '<f8' False '(2, 3)' && f8 1 2 3 4 5 6; } >in.npy
accepts "npy 2-D" run sma $io
{ npy '<f8' False '(2, 3)' && f8 nan 1.5 2.5 nan 4.5 5.5; } >wanted
holds "npy 2-D: result" out.npy <wanted
accepts "npy 2-D, three outputs" run bollinger $io --width 0
row='nan 1.5 2.5 nan 4.5 5.5'
{ npy '<f8' False '(3, 2, 3)' && f8 $row $row $row; } >wanted
holds "npy 2-D, three outputs: result" out.npy <wanted
accepts "npy 2-D, reduction" run sum --input in.npy --output out.npy $cpu
{ npy '<f8' False '(2,)' && f8 6 15; } >wanted
holds "npy 2-D, reduction: result" out.npy <wanted
accepts "npy 2-D to CSV" run sma $to_csv
holds "npy 2-D to CSV: result" out.csv <<END
0,1,0_sma,1_sma
1,4,nan,nan
2,5,1.5,4.5
3,6,2.5,5.5
END
accepts "npy 2-D, reduction to CSV" run sum --input in.npy --output out.csv $cpu
holds "npy 2-D, reduction to CSV: result" out.csv <<END
series,sum
0,6
1,15
END
accepts "npy over itself" run sma --input in.npy --output in.npy --period 2 $cpu
{ npy '<f8' False '(2, 3)' && f8 $row; } >wanted
holds "npy over itself: result" in.npy <wanted

printf 'a,b\n1,4\n2,5\n3,6\n' >in.csv
accepts "CSV to npy, two series" run sma --input in.csv --output out.npy --column a,b --period 2 $cpu
holds "CSV to npy, two series: result" out.npy <wanted
accepts "CSV to npy, one series" run sma --input in.csv --output out.npy --column b --period 2 $cpu
{ npy '<f8' False '(3,)' && f8 nan 4.5 5.5; } >wanted
holds "CSV to npy, one series: result" out.npy <wanted

{ npy '<f4' False '(3,)' && printf '\000\000\200\077\000\000\000\100\000\000\100\100'; } >in.npy
accepts "npy f4" run sma $io
{ npy '<f8' False '(3,)' && f8 nan 1.5 2.5; } >wanted
holds "npy f4 is widened" out.npy <wanted
accepts "npy f4 as f32" run sma $io --dtype f32
{ npy '<f4' False '(3,)' && printf '\000\000\300\177\000\000\300\077\000\000\040\100'; } >wanted_f4
holds "npy f4 as f32: f4 again" out.npy <wanted_f4
{ npy '<f8' False '(3,)' && f8 1 2 3; } >in.npy
accepts "npy f8 as f32" run sma $io --dtype f32
holds "npy f8 as f32: rounded" out.npy <wanted_f4
{ npy '<f8' False '(3,)' && f8 1 inf huge; } >in.npy
refuses "npy f8 too large for a float" 1 "in.npy: 8.98846567431158e+307 at \[2\] is too large for a float; correct" \
    run sma $io --dtype f32
{ npy '<f8' False '(2, 2)' && f8 1 2 3 huge; } >in.npy
refuses "npy f8 2-D too large for a float" 1 "at \[1, 1\] is too large for a float" run sma $io --dtype f32
{ npy '<f8' False '(3,)' && f8 1 inf nan; } >in.npy
warns "npy f8 with inf and nan as f32" "value 2 of 'x' is no finite number" run sma $io --dtype f32
printf 'close\n0.1\n0.3\n' >floats.csv
accepts "CSV as f32" run sma --input floats.csv --output out.csv --period 1 --dtype f32 $cpu
holds "CSV as f32: the shortest decimals of floats" out.csv <<END
close,sma
0.1,0.1
0.3,0.3
END
for version in 2 3; do
    {
        printf "\\223NUMPY\\00$version\\000\\164\\000\\000\\000"
        printf '%-115s\n' "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }"
        f8 1 2 3
    } >in.npy
    accepts "npy version $version" run sma $io
    holds "npy version $version: result" out.npy <wanted
done
{ # a header that a length of two bytes cannot tell
    printf '\223NUMPY\002\000\000\000\001\000'
    printf '%-65535s\n' "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }"
    f8 1 2 3
} >in.npy
accepts "npy with a header of 64 KiB" run sma $io
holds "npy with a header of 64 KiB: result" out.npy <wanted
for header in "True (3,)" "False (3L,)"; do
    { npy '<f8' "${header% *}" "${header#* }" && f8 1 2 3; } >in.npy
    accepts "npy of one dimension, $header" run sma $io
    holds "npy of one dimension, $header: result" out.npy <wanted
done
# Values that do not begin at a multiple of eight.
{
    printf '\223NUMPY\001\000\165\000'
    printf '%-116s\n' "{'shape':(3,),'fortran_order':False,'descr':\"<f8\"}"
    f8 1 2 3
} >in.npy
accepts "npy with an odd header" run sma $io
holds "npy with an odd header: result" out.npy <wanted
for shape in '(0,)' '(0, 5)' '(5, 0)' '(0, 18446744073709551600)' '(1000000000000, 0)'; do
    npy '<f8' False "$shape" >in.npy
    refuses "npy of shape $shape" 1 "in.npy holds no values" run sma $io
done

{ npy '<f8' False '(4,)' && f8 1 2 3; } >in.npy
refuses "npy truncated" 1 "cut short: the header promises 4 values, the file holds 3" run sma $io
{ npy '<f8' False '(2,)' && f8 1 2 3; } >in.npy
refuses "npy with trailing data" 1 "has 8 bytes after its 2 values" run sma $io
npy '<f8' False '(4,)' | head -c 60 >in.npy
refuses "npy truncated in the header" 1 "within its header" run sma $io
printf '\223NUM' >in.npy
refuses "npy truncated in the magic" 1 "no .npy file" run sma $io
: >in.npy
refuses "npy empty" 1 "is empty" run sma $io
printf 'time,close\n1,2\n' >in.npy
refuses "CSV named npy" 1 "no .npy file" run sma $io
for type in '>f8' '<i8' '<f2' '|O' '<c16'; do
    { npy "$type" False '(3,)' && f8 1 2 3; } >in.npy
    refuses "npy of type $type" 1 "holds .*astype('<f8')" run sma $io
done
printf '\223NUMPY\001\000\166\000%-117s\n' \
    "{'descr': [('open', '<f8'), ('close', '<f8')], 'fortran_order': False, 'shape': (1,), }" >in.npy
f8 1 2 >>in.npy
refuses "npy of fields" 1 "holds records of fields; save one field, as numpy.save(file, array\['close'\]) does" \
    run sma $io
{ npy '<f8' True '(2, 3)' && f8 1 2 3 4 5 6; } >in.npy
refuses "npy in Fortran order" 1 "each of its 2 rows .*ascontiguousarray(array), or array.T" run sma $io
{ npy '<f8' False '(3, 1)' && f8 1 2 3; } >in.npy
refuses "npy with time downwards" 2 "the series has 1: .*array.T if each column is a series" run sma $io
{ npy '<f8' False '(1, 2, 3)' && f8 1 2 3 4 5 6; } >in.npy
refuses "npy 3-D" 1 "has 3 dimensions" run sma $io
{ npy '<f8' False '()' && f8 1; } >in.npy
refuses "npy 0-D" 1 "has 0 dimensions" run sma $io
{ npy '<f8' False '(9223372036854775807, 9223372036854775807)' && f8 1; } >in.npy
refuses "npy of absurd size" 1 "more values than" run sma $io
{ npy '<f8' False '(99999999999999999999999,)' && f8 1; } >in.npy
refuses "npy of unreadable size" 1 "header is not readable" run sma $io
{ npy '<f8' Maybe '(3,)' && f8 1 2 3; } >in.npy
refuses "npy with a strange order" 1 "header is not readable" run sma $io
printf '\223NUMPY\011\000\166\000\000\000' >in.npy
refuses "npy of version 9" 1 "version 9.0" run sma $io
